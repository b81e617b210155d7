// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strings"

	"minos.dev/minos/check"
)

// Markdown is a report as a comment on a change: what counts as a table, and what does not folded away.
func Markdown(report *check.Report) string {
	var out strings.Builder
	lines := Summary(report)
	fmt.Fprintf(&out, "### minos check\n\n%s.\n", capital(lines[0]))
	for _, group := range check.Groups() {
		var rows strings.Builder
		for _, finding := range report.Findings {
			if finding.Rule[:3] == group.ID && finding.Counts() {
				fmt.Fprintf(&rows, "| %s | %s | `%s` | %s | %s |\n", finding.Severity, finding.Rule, cell(Where(finding.Place)), cell(message(finding.Outcome)), cell(remedy(finding)))
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&out, "\n#### %s\n\n| severity | rule | where | what | what to do |\n|---|---|---|---|---|\n%s", group.Title, rows.String())
		}
	}
	set := &strings.Builder{}
	for _, finding := range report.Findings {
		if finding.Suppressed != nil {
			fmt.Fprintf(set, "| %s | `%s` | %s | %s | %s |\n", finding.Rule, cell(Where(finding.Place)), cell(message(finding.Outcome)), finding.Suppressed.Until, cell(finding.Suppressed.Reason))
		}
	}
	folded(&out, "Suppressed", "| rule | where | what | until | why |\n|---|---|---|---|---|\n", set.String())
	open := &strings.Builder{}
	for _, one := range Unknown(report) {
		fmt.Fprintf(open, "| %s | %s | %d |\n", one.Rule, cell(one.Text), one.Count)
	}
	folded(&out, "Not decided", "| rule | why | how often |\n|---|---|---|\n", open.String())
	for _, line := range lines[1:] {
		fmt.Fprintf(&out, "\n%s.\n", capital(line))
	}
	return out.String()
}

// folded writes a table that is opened by whoever wants it.
func folded(out *strings.Builder, title, head, rows string) {
	if rows != "" {
		fmt.Fprintf(out, "\n<details><summary>%s</summary>\n\n%s%s\n</details>\n", title, head, rows)
	}
}

// cell is a text that fits into a cell of a table, whatever stands in it: what is checked may be somebody else's.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "`", "'", "@", "&#64;", "[", "\\[").Replace(oneLine(text))
}

// capital is a text with a capital at its beginning.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
