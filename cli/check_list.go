// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A shownRule is a rule for programs.
type shownRule struct {
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	Question     string        `json:"question"`
	Severity     rule.Severity `json:"severity"`
	Production   bool          `json:"production,omitempty"`
	Availability bool          `json:"availability,omitempty"`
	Inputs       []facts.Input `json:"inputs"`
	Remedy       string        `json:"remedy"`
	Sources      []string      `json:"sources"`
	Examples     string        `json:"examples,omitempty"`
}

// newShownRule is a rule for programs, without its examples.
func newShownRule(one *rule.Rule) shownRule {
	return shownRule{
		ID: one.ID, Title: one.Title, Question: one.Question, Severity: one.Severity, Production: one.Production, Availability: one.Availability,
		Inputs: one.Inputs, Remedy: one.Remedy, Sources: one.Sources,
	}
}

// printList lists the rules that --only and --skip leave.
func (c *checking) printList(cmd *cobra.Command) error {
	rules, err := check.Select(c.only, c.skip)
	if err != nil {
		return err
	}
	if err := c.onlyCommon(cmd); err != nil {
		return err
	}
	shown := make([]shownRule, len(rules))
	table := Table{Columns: []string{"id", "severity", "reads", "title"}}
	for at, one := range rules {
		shown[at] = newShownRule(one)
		var inputs []string
		for _, input := range one.Inputs {
			inputs = append(inputs, string(input))
		}
		table.Rows = append(table.Rows, []string{one.ID, one.Severity.String(), strings.Join(inputs, ","), one.Title})
	}
	return Print(cmd.OutOrStdout(), *c.format, shown, func() Table { return table })
}

// printExplained shows all of one rule.
func (c *checking) printExplained(cmd *cobra.Command) error {
	one, err := check.Find(c.explain)
	if err != nil {
		return Hint(err, "'minos check --list' lists the rules")
	}
	if err := c.onlyCommon(cmd); err != nil {
		return err
	}
	if *c.format == FormatTable {
		_, err := io.WriteString(cmd.OutOrStdout(), c.text(cmd).Explain(one))
		return err
	}
	shown := newShownRule(one)
	shown.Examples = one.Examples
	return Print(cmd.OutOrStdout(), *c.format, shown, nil)
}

// onlyCommon refuses formats that are for reports.
func (c *checking) onlyCommon(cmd *cobra.Command) error {
	switch *c.format {
	case formatSarif, formatJUnit, formatMarkdown:
		return about(cmd, "-o %s is for findings: rules are printed as table, json or yaml", *c.format)
	}
	return nil
}
