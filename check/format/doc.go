// SPDX-License-Identifier: Apache-2.0

// Package format writes reports of the checks for people and for programs: text, Markdown, SARIF and JUnit.
package format

import (
	"cmp"
	"fmt"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// Where is a place in the form that editors jump to: file and line, or else what it is about.
func Where(place facts.Place) string {
	switch {
	case place.File == "" && place.Machine != "":
		return "machine " + place.Machine
	case place.File == "" && place.Cluster != "":
		return "cluster " + place.Cluster
	case place.File == "":
		return "."
	case place.Line == 0:
		return place.File
	}
	return fmt.Sprintf("%s:%d", place.File, place.Line)
}

// Line is a finding on one line.
func Line(finding *check.Finding) string {
	return fmt.Sprintf("%s: %s %s: %s", Where(finding.Place), finding.Rule, finding.Severity, message(finding.Outcome))
}

// message is what an outcome says, with the field and what was seen.
func message(outcome *rule.Outcome) string {
	text := outcome.Text
	if outcome.Path != "" {
		text = outcome.Path + ": " + text
	}
	if outcome.Commit != "" {
		text += " (in commit " + outcome.Commit + ")"
	}
	if outcome.Evidence != "" {
		text += " (" + outcome.Evidence + ")"
	}
	return oneLine(text)
}

// oneLine is a text without line ends.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Count is a number of things in words.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Summary is the report in two sentences: what was found, and what could not be decided.
func Summary(report *check.Report) []string {
	sum := report.Summary
	lines := []string{fmt.Sprintf("nothing is wrong: %s in %s", Count(sum.Objects, "object"), Count(sum.Files, "file"))}
	if counted := counts(sum); counted != "" {
		lines[0] = fmt.Sprintf("%s in %s", counted, Count(sum.Files, "file"))
	}
	if sum.Suppressed > 0 {
		lines[0] += fmt.Sprintf("; %d suppressed", sum.Suppressed)
	}
	if sum.Baseline > 0 {
		lines[0] += fmt.Sprintf("; %d in the baseline", sum.Baseline)
	}
	lines[0] += fmt.Sprintf("; %d of %s hold", sum.RulesPassed, Count(sum.Rules, "rule"))
	if sum.RulesUnknown > 0 {
		lines = append(lines, undecided(sum))
	}
	if len(report.Gone) > 0 {
		lines = append(lines, fmt.Sprintf("gone since the baseline was written: %s; write it again", Count(len(report.Gone), "finding")))
	}
	return lines
}

// counts are how many findings count, by severity; empty if none do.
func counts(sum check.Summary) string {
	var parts []string
	for _, part := range []struct {
		count int
		name  string
	}{{sum.Error, "error"}, {sum.Warning, "warning"}, {sum.Info, "info"}} {
		if part.count > 0 {
			parts = append(parts, Count(part.count, part.name))
		}
	}
	return strings.Join(parts, ", ")
}

// undecided says how many rules could not be decided, and for lack of what.
func undecided(sum check.Summary) string {
	text := fmt.Sprintf("%s could not be decided", Count(sum.RulesUnknown, "rule"))
	var lacks []string
	for _, lack := range sum.Lacking {
		lacks = append(lacks, fmt.Sprintf("%s (%d)", lack.Words, lack.Rules))
	}
	if len(lacks) > 0 {
		text += ", some for lack of: " + strings.Join(lacks, ", ")
	}
	return text
}

// An Open is a reason why something could not be decided, and how often that is so.
type Open struct {
	Rule  string `json:"rule"`
	Text  string `json:"text"`
	Where string `json:"where"` // the first place
	Count int    `json:"count"`
}

// Unknown are the reasons why things could not be decided, each once.
func Unknown(report *check.Report) []Open {
	at := map[[2]string]int{}
	var found []Open
	for _, outcome := range report.Unknown {
		key := [2]string{outcome.Rule, outcome.Text}
		if was, ok := at[key]; ok {
			found[was].Count++
			continue
		}
		at[key] = len(found)
		found = append(found, Open{Rule: outcome.Rule, Text: outcome.Text, Where: Where(outcome.Place), Count: 1})
	}
	return found
}

// remedy is what to do about a finding.
func remedy(finding *check.Finding) string { return cmp.Or(oneLine(finding.Remedy), "-") }
