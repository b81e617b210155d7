// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"minos.dev/minos/check"
	"minos.dev/minos/check/format"
	"minos.dev/minos/check/rule"
)

// most is how many findings of one rule people are shown at once, unless they asked for that rule.
const most = 10

// severity is what a level stands for.
func (l level) severity() rule.Severity {
	var found rule.Severity
	_ = found.UnmarshalText([]byte(l)) // a level is one of its words
	return found
}

// isScreen says whether a person sees what is written, on a terminal that can do more than write lines.
func isScreen(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// text is how a person is shown findings.
func (c *checking) text(cmd *cobra.Command) format.Text {
	shown := format.Text{Colour: isScreen(cmd.OutOrStdout()) && os.Getenv("NO_COLOR") == "", Level: c.shown.severity(), Most: most}
	if len(c.only) > 0 {
		shown.Most = 0
	}
	return shown
}

// print shows a report.
func (c *checking) print(cmd *cobra.Command, report *check.Report) error {
	out := cmd.OutOrStdout()
	switch *c.format {
	case formatSarif:
		return Print(out, FormatJSON, format.Sarif(report, c.version), nil)
	case formatJUnit:
		text, err := format.JUnit(report, c.failing.severity())
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	case formatMarkdown:
		_, err := io.WriteString(out, format.Markdown(report))
		return err
	case FormatTable:
		return c.printText(cmd, report)
	}
	return Print(out, *c.format, report, nil)
}

// printText shows a report to people: findings as data, and the rest as words.
func (c *checking) printText(cmd *cobra.Command, report *check.Report) error {
	out := cmd.OutOrStdout()
	if _, err := io.WriteString(out, c.text(cmd).Findings(report)); err != nil {
		return err
	}
	if c.unknown {
		for _, one := range format.Unknown(report) {
			more := ""
			if one.Count > 1 {
				more = fmt.Sprintf(" (and %d more)", one.Count-1)
			}
			if _, err := fmt.Fprintf(out, "%s: %s unknown: %s%s\n", one.Where, one.Rule, one.Text, more); err != nil {
				return err
			}
		}
	}
	for _, line := range format.Summary(report) {
		say(cmd, "%s", line)
	}
	if report.Summary.RulesUnknown > 0 && !c.unknown {
		say(cmd, "--unknown lists what could not be decided, and why")
	}
	return nil
}
