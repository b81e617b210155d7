// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/plan/preview"
)

// newPoolDiff returns the command that foretells what a change does to the machines of pools.
func newPoolDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [DIR]",
		Short: "Foretell which machines a change would replace",
		Long: `Compares what DIR, a folder or a file of declarations, or the current folder
says with what a management cluster has, and foretells what applying it would do
to the machines of every pool: how many are replaced and how many at a time,
which are changed while they run, how many are made and removed, and because of
which fields. Clusters, roles and locations in DIR count too. What DIR does not
mention stays as it is; an object without a namespace is one of -n.

The operator decides by the same rules. Nothing is changed and no secret is
read. Exits with 2 if machines would change, and with 3 if something is not
possible.`,
		Example: "minos pool diff workers.yaml\nminos pool diff fleet -n tenant-shop -o json",
	}
	access, format := accessFlags(cmd), OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		found, err := l.foresee(cmd.Context(), append(args, ".")[0])
		if err != nil {
			return err
		}
		err = Print(cmd.OutOrStdout(), *format, found.pools, func() Table { return forecastTable(nil, found.pools) })
		if err != nil {
			return err
		}
		return found.conclude(cmd)
	}
	return cmd
}

// forecastTable shows what is foretold.
func forecastTable(clusters []clusterForecast, pools []preview.Forecast) Table {
	table := Table{Columns: []string{"Object", "Machines", "What-happens", "Because"}}
	for _, one := range clusters {
		table.Rows = append(table.Rows, []string{"cluster " + one.Cluster, "", one.words(), strings.Join(one.Because, ", ")})
	}
	for _, one := range pools {
		table.Rows = append(table.Rows, []string{"pool " + one.Pool, fmt.Sprint(one.Machines), poolWords(one), strings.Join(one.Because, ", ")})
	}
	return table
}

// poolWords is what happens to the machines of a pool, in a cell.
func poolWords(one preview.Forecast) string {
	var parts []string
	if one.Replaced > 0 {
		text := fmt.Sprintf("%d replaced, %d at a time", one.Replaced, one.AtOnce)
		if one.Times > 1 {
			text += fmt.Sprintf(", %d times", one.Times)
		}
		parts = append(parts, text)
	}
	for _, count := range []struct {
		number int
		words  string
	}{{one.Changed, "changed while they run"}, {one.Made, "made"}, {one.Removed, "drained and removed"}} {
		if count.number > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.number, count.words))
		}
	}
	for _, why := range one.Impossible {
		parts = append(parts, "not possible: "+why)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// conclude says it in a line, and by the exit code.
func (f foreseen) conclude(cmd *cobra.Command) error {
	all, replaced, others, impossible := 0, 0, 0, 0
	for _, one := range f.pools {
		all += one.Machines
		replaced += one.Replaced
		others += one.Changed + one.Made + one.Removed
		impossible += len(one.Impossible)
	}
	planes := 0
	for _, one := range f.clusters {
		planes += len(one.Through)
		impossible += len(one.Impossible)
	}
	switch {
	case impossible > 0:
		say(cmd, "%s not possible: see the table", map[bool]string{true: "1 thing is", false: fmt.Sprintf("%d things are", impossible)}[impossible == 1])
		return Exit(ExitFindings, nil)
	case replaced+others+planes == 0:
		say(cmd, "nothing would happen to %s", count(all, "machine"))
		return nil
	}
	say(cmd, "%d of %s would be replaced", replaced, count(all, "machine"))
	return Exit(ExitChanges, nil)
}
