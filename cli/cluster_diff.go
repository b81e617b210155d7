// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/plan/preview"
)

// newClusterDiff returns the command that foretells what a change does to clusters and their pools.
func newClusterDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [DIR]",
		Short: "Foretell what a change would do to clusters",
		Long: `Does what 'minos pool diff' does, and foretells for every cluster too what
applying DIR, a folder or a file of declarations, would do to its control plane:
through which versions it would go, and what is not possible.

Nothing is changed and no secret is read. Exits with 2 if something would
change, and with 3 if something is not possible.`,
		Example: "minos cluster diff shop.yaml\nminos cluster diff fleet -n tenant-shop -o yaml",
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
		found.clusters = found.changedClusters()
		whole := struct {
			Clusters []clusterForecast  `json:"clusters"`
			Pools    []preview.Forecast `json:"pools"`
		}{found.clusters, found.pools}
		if err := Print(cmd.OutOrStdout(), *format, whole, func() Table { return forecastTable(found.clusters, found.pools) }); err != nil {
			return err
		}
		return found.conclude(cmd)
	}
	return cmd
}

// A clusterForecast is what a change does to a control plane.
type clusterForecast struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// New says that it is made.
	New bool `json:"new,omitempty"`
	// Through are the versions that it goes through.
	Through []string `json:"through,omitempty"`
	// Because are the fields that cause it.
	Because []string `json:"because,omitempty"`
	// Impossible is what is asked for and not done.
	Impossible []string `json:"impossible,omitempty"`
}

// words is what happens, in a cell.
func (c clusterForecast) words() string {
	var parts []string
	if c.New {
		parts = append(parts, "made")
	}
	if len(c.Through) > 0 {
		parts = append(parts, "the control plane goes to "+strings.Join(c.Through, ", then to "))
	}
	for _, why := range c.Impossible {
		parts = append(parts, "not possible: "+why)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// changedClusters foretells what happens to the clusters that are declared.
func (f foreseen) changedClusters() []clusterForecast {
	all := []clusterForecast{}
	for _, name := range f.declared.names("TalosCluster") {
		after := f.after.clusters[name]
		one := clusterForecast{Namespace: after.Namespace, Cluster: after.Name, Impossible: f.forbidden[keyOf("TalosCluster", after)]}
		before := f.before.clusters[name]
		if before == nil {
			one.New = true
			all = append(all, one)
			continue
		}
		through, held := preview.ControlPlane(before, after)
		for _, version := range through {
			one.Through = append(one.Through, string(version))
		}
		if len(through) > 0 {
			one.Because = []string{"kubernetesVersion"}
		}
		if held != "" {
			one.Impossible = append(one.Impossible, fmt.Sprintf("kubernetesVersion: %s", held))
		}
		all = append(all, one)
	}
	return all
}
