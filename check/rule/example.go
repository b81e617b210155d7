// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"embed"
	"fmt"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/secret"
)

// An Example is a small folder, and what a rule says of it.
type Example struct {
	// Name is how the example is called: its first word is the verdict, as in "fail", "pass-with-a-note", "unknown" or "silent".
	Name string
	// Files are its files.
	Files []*facts.File
	// Past are files that are in the history only.
	Past []*facts.File
	// Before are files of the state before, with which changes are compared.
	Before []*facts.File
}

// now is when examples are judged.
var now = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// ParseExamples reads examples: an archive in which the first part of a file's path is the name of the example. A file is tracked by
// Git unless "(untracked)", "(ignored)" or "(past)" stands after its path; "(before)" is the state with which changes are compared.
func ParseExamples(text string) []Example {
	var found []Example
	for _, part := range txtar.Parse([]byte(text)).Files {
		path, mark, _ := strings.Cut(part.Name, " ")
		name, path, _ := strings.Cut(path, "/")
		if len(found) == 0 || found[len(found)-1].Name != name {
			found = append(found, Example{Name: name})
		}
		example := &found[len(found)-1]
		file := &facts.File{Path: path, Text: part.Data, Tracked: mark == "", Ignored: mark == "(ignored)"}
		switch mark {
		case "(past)":
			example.Past = append(example.Past, file)
		case "(before)":
			example.Before = append(example.Before, file)
		default:
			example.Files = append(example.Files, file)
		}
	}
	return found
}

// Verdict is what the rule says of the example: the first word of its name.
func (e Example) Verdict() string {
	word, _, _ := strings.Cut(e.Name, "-")
	return word
}

// Facts are what is known of the example.
func (e Example) Facts() (*facts.Facts, error) {
	source := facts.Source{Files: e.Files, Before: e.Before, Git: true, Now: now}
	for _, file := range e.Files {
		if file.Tracked {
			source.Leaks = append(source.Leaks, secret.Scan(file.Path, file.Text)...)
		}
	}
	for _, file := range e.Past {
		for _, leak := range secret.Scan(file.Path, file.Text) {
			leak.Commit = "1234567"
			source.PastLeaks = append(source.PastLeaks, leak)
		}
	}
	return facts.Read(source)
}

// Set gives rules their examples: examples/<ID>.txtar of a package. A rule without is a mistake of whoever wrote it, and every run
// of the program would show it.
func Set(examples embed.FS, rules ...*Rule) []*Rule {
	for _, rule := range rules {
		text, err := examples.ReadFile("examples/" + rule.ID + ".txtar")
		if err != nil {
			panic(fmt.Sprintf("rule %s has no examples: %v", rule.ID, err))
		}
		rule.Examples = string(text)
	}
	return rules
}
