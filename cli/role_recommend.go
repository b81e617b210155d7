// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/talos"
)

// newRoleRecommend returns the command that recommends a role.
func newRoleRecommend() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recommend [DIR]",
		Short: "Say which role to take for some work, and why not another",
		Long: `Says which role to take for a pool: the smallest one that has what the work
needs on its machines. What a role brings and nobody needs is not merely waste,
because a machine ends its boot only when every service of its image runs. With
DIR, the roles that the folder declares are asked too.

--needs names what the work needs:
` + needLines() + `
The name of an extension that a role of workers has is understood as well.
Without --needs, nothing special is needed. Where no role has it all, the answer
is several roles: a pool has one, and a cluster has as many pools as it likes.`,
		Example: "minos role recommend --needs longhorn\nminos role recommend --needs tailscale,linstor\nminos role recommend fleet --needs nvidia,zfs -o json",
	}
	format := OutputFlag(cmd)
	needs := cmd.Flags().StringSlice("needs", nil, "`words` for what the work needs, such as longhorn; may be repeated")
	// It fails for a flag that does not exist or was registered twice; neither can be here.
	_ = cmd.RegisterFlagCompletionFunc("needs", cobra.FixedCompletions(needNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		declared, err := readRoles(cmd.Context(), args)
		if err != nil {
			return err
		}
		made, err := declared.Recommend(*needs...)
		if err != nil {
			return Hint(err, "'minos role recommend --help' lists the needs, and 'minos role list' the roles")
		}
		if err := Print(cmd.OutOrStdout(), *format, made, func() Table { return recommendationTable(made) }); err != nil {
			return err
		}
		if len(made.Take) > 1 {
			say(cmd, "no role has all of that: make a pool of each, or a role of your own that extends one of them")
		}
		return nil
	}
	return cmd
}

// needLines lists the needs for the help.
func needLines() string {
	var lines strings.Builder
	for _, need := range talos.Needs() {
		lines.WriteString("  " + need.Name + strings.Repeat(" ", max(1, 15-len(need.Name))) + need.Means + "\n")
	}
	return lines.String()
}

// needNames are the needs by name.
func needNames() (names []string) {
	for _, need := range talos.Needs() {
		names = append(names, need.Name)
	}
	return names
}

// recommendationTable is the recommendation for people: first what to take.
func recommendationTable(made talos.Recommendation) Table {
	table := Table{Columns: []string{"Role", "Advice", "Because", "Asks"}}
	for _, role := range made.Take {
		table.Rows = append(table.Rows, []string{role.Role, "take", role.Because, strings.Join(role.Asks, "; ")})
	}
	for _, role := range made.Leave {
		table.Rows = append(table.Rows, []string{role.Role, "leave", role.Because})
	}
	return table
}
