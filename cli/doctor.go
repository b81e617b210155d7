// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
)

// newDoctor returns the command that says why something is not Ready.
func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "Say why a pool or a cluster is not Ready",
		Long: `Says what keeps a pool or a cluster of a management cluster from being Ready, or
everything in a namespace: the step that is missing, since when, the cause, and
what to look at. With the name of a cluster, its pools are examined too; with
that of a pool, its cluster and its place.

Exits with 3 if something is not Ready, and with 0 if all is well.`,
		Example: "minos doctor\nminos doctor workers -n acme\nminos doctor -A -o json",
		GroupID: GroupClusters,
	}
	access, everywhere, format := accessFlags(cmd), allNamespacesFlag(cmd), OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && *everywhere {
			return fmt.Errorf("-A and %s cannot both be given: a name is of one namespace", args[0])
		}
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		seen, err := l.examine(cmd, *everywhere)
		if err != nil {
			return err
		}
		for _, name := range args {
			all := seen
			if seen = all.Only(name); len(seen.Clusters)+len(seen.Pools) == 0 {
				return l.nobody(name, all)
			}
		}
		return printFindings(cmd, *format, seen)
	}
	return cmd
}

// examine reads what the doctor looks at. A tenant may not be allowed to see the platform's places: the rest says enough.
func (l *live) examine(cmd *cobra.Command, everywhere bool) (doctor.Seen, error) {
	clusters, pools, machines := &api.TalosClusterList{}, &api.NodePoolList{}, &api.TalosMachineList{}
	places, offered := &api.LocationList{}, &api.ClusterLocationList{}
	for _, list := range []client.ObjectList{clusters, pools, machines, places} {
		if err := l.list(cmd.Context(), list, l.in(everywhere)); err != nil {
			return doctor.Seen{}, err
		}
	}
	switch err := l.explain(l.List(cmd.Context(), offered)); {
	case isForbidden(err):
		say(cmd, "warning: %s: the platform's places are not examined", err)
	case err != nil:
		return doctor.Seen{}, err
	}
	return doctor.Seen{
		Clusters: clusters.Items, Pools: pools.Items, Machines: machines.Items,
		Locations: places.Items, ClusterLocations: usedOf(offered.Items, pools.Items),
	}, nil
}

// usedOf are the platform's places that pools use: the others are the platform's own matter.
func usedOf(offered []api.ClusterLocation, pools []api.NodePool) []api.ClusterLocation {
	var used []api.ClusterLocation
	for _, place := range offered {
		for _, pool := range pools {
			if pool.Spec.LocationRef.Kind == api.KindClusterLocation && string(pool.Spec.LocationRef.Name) == place.Name {
				used = append(used, place)
				break
			}
		}
	}
	return used
}

// nobody says that a name is neither a pool's nor a cluster's.
func (l *live) nobody(name string, all doctor.Seen) error {
	var known []string
	for _, pool := range all.Pools {
		known = append(known, pool.Name)
	}
	for _, cluster := range all.Clusters {
		known = append(known, cluster.Name)
	}
	return Hint(fmt.Errorf("there is no pool and no cluster %q in namespace %q%s", name, l.namespace, nearest.Hint(name, known)),
		"'minos pool list -A' and 'minos cluster list -A' show all")
}

// printFindings prints what was found, and says by the exit code whether anything is not Ready.
func printFindings(cmd *cobra.Command, format Format, seen doctor.Seen) error {
	now := time.Now()
	found := doctor.Findings(seen, now)
	if format != FormatTable {
		if err := Print(cmd.OutOrStdout(), format, append([]doctor.Finding{}, found...), nil); err != nil {
			return err
		}
	} else if err := DescribeFindings(cmd.OutOrStdout(), found, now); err != nil {
		return err
	}
	if doctor.Sick(found) {
		return Exit(ExitFindings, nil)
	}
	say(cmd, "all is well: %s, %s, %s", count(len(seen.Clusters), "cluster"), count(len(seen.Pools), "pool"), count(len(seen.Machines), "machine"))
	return nil
}

// DescribeFindings prints findings for people: a table, and then what to look at for each.
func DescribeFindings(w io.Writer, found []doctor.Finding, now time.Time) error {
	if len(found) == 0 {
		return nil
	}
	table := Table{Columns: []string{"Severity", "Object", "Step", "Since", "Reason"}}
	words := ""
	for _, finding := range found {
		since := metav1.Time{}
		if finding.Since != nil {
			since = *finding.Since
		}
		object := objectOf(finding)
		table.Rows = append(table.Rows, []string{string(finding.Severity), object, finding.Step, ageOf(since, now), finding.Reason})
		words += fmt.Sprintf("\n%s, %s: %s\n", object, finding.Step, finding.Cause)
		if len(finding.Machines) > 0 {
			words += "  machines: " + strings.Join(finding.Machines, ", ") + "\n"
		}
		for _, line := range finding.Look {
			words += "  look: " + line + "\n"
		}
	}
	if err := Print(w, FormatTable, nil, func() Table { return table }); err != nil {
		return err
	}
	_, err := io.WriteString(w, words)
	return err
}

// objectOf is what a finding is about, as people write it.
func objectOf(f doctor.Finding) string {
	if f.Namespace == "" {
		return f.Kind + "/" + f.Name
	}
	return f.Namespace + "/" + f.Kind + "/" + f.Name
}
