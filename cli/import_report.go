// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/proof"
)

// An importReport is what programs learn of an import or an export.
type importReport struct {
	Machines    int                `json:"machines"`
	Equal       bool               `json:"equal"`
	Left        []adopt.Remark     `json:"left"`
	Differences []proof.Difference `json:"differences"`
	Likenesses  []proof.Likeness   `json:"likenesses"`
	Notes       []adopt.Remark     `json:"notes"`
}

// reportImport reports an import.
func reportImport(cmd *cobra.Command, format Format, result *adopt.Result) error {
	report := &importReport{Machines: result.Machines, Left: result.Left, Notes: result.Notes}
	return report.print(cmd, format, result.Proof)
}

// print shows the report and says by the exit code whether all is the same.
func (r *importReport) print(cmd *cobra.Command, format Format, found proof.Result) error {
	r.Differences, r.Likenesses = found.Differences, found.Likenesses
	r.Equal = len(r.Differences) == 0
	r.Left, r.Notes, r.Likenesses = listed(r.Left), listed(r.Notes), listed(r.Likenesses)
	if format != FormatTable || len(r.table().Rows) > 0 {
		if err := Print(cmd.OutOrStdout(), format, r, r.table); err != nil {
			return err
		}
	}
	switch {
	case r.Equal && len(r.Left) == 0:
		say(cmd, "proved: %s, every document is the same", count(r.Machines, "machine"))
		return nil
	case r.Equal:
		say(cmd, "proved: %s, every document is the same; %s not carried over otherwise", count(r.Machines, "machine"), things(len(r.Left)))
	default:
		say(cmd, "not the same: %s on %s; %s not carried over", count(len(r.Differences), "difference"), r.differing(), things(len(r.Left)))
	}
	return Exit(ExitChanges, nil)
}

// listed is a list that programs see as one, even if it is empty.
func listed[T any](all []T) []T { return append([]T{}, all...) }

// things is a number of things, with its verb.
func things(n int) string {
	if n == 1 {
		return "1 thing is"
	}
	return count(n, "thing") + " are"
}

// differing is how many machines differ, of all.
func (r *importReport) differing() string {
	machines := map[string]bool{}
	for _, difference := range r.Differences {
		machines[difference.Machine] = true
	}
	return count(len(machines), "machine") + " of " + count(r.Machines, "machine")
}

// table is the report for people. What is the same for several machines is one row.
func (r *importReport) table() Table {
	table := Table{Columns: []string{"Finding", "Where", "Machines", "Theirs", "Ours", "Why"}}
	for _, remark := range r.Notes {
		table.Rows = append(table.Rows, []string{"note", remark.Origin.String(), "", "", "", remark.Text})
	}
	for _, remark := range r.Left {
		table.Rows = append(table.Rows, []string{"left", remark.Origin.String(), "", "", "", remark.Text})
	}
	rows := map[string]int{}
	add := func(machine string, row []string) {
		id := strings.Join(row, "\n")
		if at, ok := rows[id]; ok {
			table.Rows[at][2] += "," + machine
			return
		}
		rows[id] = len(table.Rows)
		row[2] = machine
		table.Rows = append(table.Rows, row)
	}
	for _, d := range r.Differences {
		add(d.Machine, []string{"differs", strings.TrimSpace(d.Document + " " + d.Path), "", shownOr(d.Theirs), shownOr(d.Ours), d.Why})
	}
	for _, l := range r.Likenesses {
		add(l.Machine, []string{"alike", strings.TrimSpace(l.Document + " " + l.Path), "", "", "", l.Why})
	}
	return table
}

func shownOr(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
