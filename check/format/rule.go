// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
)

// Fields are what a rule says of itself beside its title and its question: a name and a text each.
func Fields(one *rule.Rule) [][2]string {
	var inputs, sources []string
	for _, input := range one.Inputs {
		inputs = append(inputs, input.String())
	}
	for _, code := range one.Sources {
		sources = append(sources, check.Source(code))
	}
	return [][2]string{
		{"severity", Severity(one)},
		{"reads", strings.Join(inputs, ", ")},
		{"remedy", one.Remedy},
		{"why", strings.Join(sources, "; ")},
	}
}

// Severity is how bad it is when a rule does not hold, with where that differs.
func Severity(one *rule.Rule) string {
	text := one.Severity.String()
	if one.Production && one.Severity > rule.Info {
		text += fmt.Sprintf(" in production, %s elsewhere", one.Severity-1)
	}
	if one.Availability {
		text += "; nothing for a small cluster with a backup"
	}
	return text
}

// Caption is what an example shows, in words.
func Caption(example rule.Example) string {
	verdict, rest, _ := strings.Cut(example.Name, "-")
	words := map[string]string{"fail": "fails", "pass": "passes", "unknown": "cannot be decided", "silent": "says nothing"}[verdict]
	if rest != "" {
		words += ": " + strings.ReplaceAll(rest, "-", " ")
	}
	return words
}

// An ExampleFile is a file of an example: its path, with what Git knows of it, and its text.
type ExampleFile struct{ Name, Text string }

// Files are the files of an example, the state before and the past included.
func Files(example rule.Example) []ExampleFile {
	var found []ExampleFile
	for _, file := range example.Before {
		found = append(found, ExampleFile{file.Path + " (before)", string(file.Text)})
	}
	for _, file := range example.Past {
		found = append(found, ExampleFile{file.Path + " (in an older commit)", string(file.Text)})
	}
	for _, file := range example.Files {
		name := file.Path
		switch {
		case file.Ignored:
			name += " (ignored by Git)"
		case !file.Tracked:
			name += " (not in Git)"
		}
		found = append(found, ExampleFile{name, string(file.Text)})
	}
	return found
}
