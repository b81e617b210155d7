// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
)

// Text is how findings are shown to people.
type Text struct {
	// Colour says that the reader sees colours.
	Colour bool
	// Level is the mildest severity that is shown.
	Level rule.Severity
	// Most is how many findings of one rule are shown; 0 is all.
	Most int
}

// colours of severities, of titles and of what matters less.
var colours = map[string]string{"error": "\x1b[31m", "warning": "\x1b[33m", "info": "\x1b[36m", "title": "\x1b[1m", "dim": "\x1b[2m"}

// paint colours a text.
func (t Text) paint(how, text string) string {
	if !t.Colour {
		return text
	}
	return colours[how] + text + "\x1b[0m"
}

// Findings are the findings that count: by subject, a line each, and after those of one rule what to do about them.
func (t Text) Findings(report *check.Report) string {
	var out strings.Builder
	for _, group := range check.Groups() {
		var lines strings.Builder
		for _, some := range t.byRule(report, group.ID) {
			t.rule(&lines, some)
		}
		if lines.Len() > 0 {
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			fmt.Fprintf(&out, "%s\n%s", t.paint("title", group.Title), lines.String())
		}
	}
	return out.String()
}

// byRule are the findings of a group that are shown, by rule.
func (t Text) byRule(report *check.Report, group string) [][]*check.Finding {
	var found [][]*check.Finding
	for _, finding := range report.Findings {
		if finding.Rule[:3] != group || !finding.Counts() || finding.Severity < t.Level {
			continue
		}
		if last := len(found) - 1; last >= 0 && found[last][0].Rule == finding.Rule {
			found[last] = append(found[last], finding)
			continue
		}
		found = append(found, []*check.Finding{finding})
	}
	return found
}

// rule shows the findings of one rule. A remedy that several share stands below the last of them.
func (t Text) rule(out *strings.Builder, findings []*check.Finding) {
	shown := findings
	if t.Most > 0 && len(findings) > t.Most {
		shown = findings[:t.Most]
	}
	for at, finding := range shown {
		severity := finding.Severity.String()
		fmt.Fprintf(out, "%s: %s %s: %s\n", Where(finding.Place), finding.Rule, t.paint(severity, severity), message(finding.Outcome))
		if at+1 == len(shown) || finding.Remedy != shown[at+1].Remedy {
			fmt.Fprintf(out, "    %s\n", t.paint("dim", remedy(finding)))
		}
	}
	if hidden := len(findings) - len(shown); hidden > 0 {
		fmt.Fprintf(out, "    %s\n", t.paint("dim", fmt.Sprintf("and %d more: --only %s shows them all", hidden, findings[0].Rule)))
	}
}

// Explain is all that there is to know of a rule.
func (t Text) Explain(one *rule.Rule) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n%s\n\n", t.paint("title", one.ID+": "+one.Title), wrap(one.Question))
	for _, row := range Fields(one) {
		fmt.Fprintf(&out, "%-9s %s\n", row[0]+":", row[1])
	}
	for _, example := range rule.ParseExamples(one.Examples) {
		fmt.Fprintf(&out, "\n%s\n", t.paint("title", Caption(example)))
		for _, file := range Files(example) {
			fmt.Fprintf(&out, "  %s:\n", file.Name)
			for line := range strings.Lines(file.Text) {
				fmt.Fprintf(&out, "    %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	return out.String()
}

// width is what a terminal shows of a line without folding it.
const width = 80

// wrap folds a text.
func wrap(text string) string {
	var out strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			out.WriteString("\n")
			column = 0
		default:
			out.WriteString(" ")
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	return out.String()
}
