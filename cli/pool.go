// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// newPool returns the commands about pools.
func newPool() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pool",
		Aliases: []string{"pools"},
		Short:   "See and change the node pools of clusters",
		Long: `A node pool is a set of like machines of one cluster, one role and one place.
These commands are about the pools of a management cluster.`,
		Example: "minos pool list\nminos pool scale workers 5 --wait",
		GroupID: GroupClusters,
	}
	cmd.AddCommand(newPoolList(), newPoolDescribe(), newPoolCreate(), newPoolDiff(), newPoolScale(), newPoolDelete())
	return cmd
}
