// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"minos.dev/minos/check/formation"
)

// runFormation says of every cluster of the folder whether it forms, and exits with 3 if one does not.
func (c *checking) runFormation(cmd *cobra.Command) error {
	if err := c.onlyCommon(cmd); err != nil {
		return err
	}
	all, err := c.gather(cmd, nil)
	if err != nil {
		return err
	}
	results := formation.Judge(all)
	table := Table{Columns: []string{"cluster", "test", "verdict", "why"}}
	for _, one := range results {
		table.Rows = append(table.Rows, []string{one.Cluster, one.Test, string(one.Verdict), one.Text})
	}
	if err := Print(cmd.OutOrStdout(), *c.format, results, func() Table { return table }); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(one formation.Result) bool { return one.Verdict == formation.Fails }) {
		return Exit(ExitFindings, nil)
	}
	return nil
}
