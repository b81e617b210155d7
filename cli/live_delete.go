// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// newClusterDelete returns the command that deletes a cluster.
func newClusterDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a cluster without pools",
		Long: `Deletes a cluster: its control plane, with all that is kept in it, and then its
secrets. A cluster that has pools is refused: delete them first.

With --dry-run, nothing is deleted: what would go is printed.`,
		Example: "minos cluster delete shop --dry-run\nminos cluster delete shop --wait",
	}
	access, wait := accessFlags(cmd), waitFlags(cmd)
	dryRun := dryRunFlag(cmd, "print what would go, and delete nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		cluster, err := l.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		pools, err := l.poolsOf(cmd.Context(), cluster.Name)
		if err != nil {
			return err
		}
		if len(pools) > 0 {
			return hasPools(cluster, pools)
		}
		going := [][]string{{"TalosCluster", cluster.Name}}
		if cluster.Spec.ControlPlane.Kamaji != nil {
			going = append(going, []string{"KamajiControlPlane", cluster.Name})
		}
		going = append(going, []string{"Secret", names.Identity(cluster)}, []string{"Secret", names.Talosconfig(cluster)})
		err = l.remove(cmd, cluster, removal{word: "cluster", going: going, dryRun: *dryRun})
		if err != nil || *dryRun {
			return err
		}
		return wait.until(cmd, l.gone("cluster "+cluster.Name, cluster, func(context.Context) (string, error) {
			return waitsFor(cluster, cluster.Status.Conditions), nil
		}))
	}
	return cmd
}

// newPoolDelete returns the command that deletes a pool.
func newPoolDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a pool with its machines",
		Long: `Deletes a pool: its machines are drained and removed, their Nodes go, and
nothing of another pool or of the control plane changes.

With --dry-run, nothing is deleted: what would go is printed.`,
		Example: "minos pool delete workers --dry-run\nminos pool delete workers --wait --timeout 1h",
	}
	access, wait := accessFlags(cmd), waitFlags(cmd)
	dryRun := dryRunFlag(cmd, "print what would go, and delete nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		pool, err := l.pool(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		machines, err := l.machinesOf(cmd.Context(), pool)
		if err != nil {
			return err
		}
		err = l.remove(cmd, pool, removal{word: "pool", going: goingWith(pool, machines), dryRun: *dryRun})
		if err != nil || *dryRun {
			return err
		}
		return wait.until(cmd, l.gone("pool "+pool.Name, pool, func(ctx context.Context) (string, error) {
			left, err := l.machinesOf(ctx, pool)
			return leftInWords(pool, left), err
		}))
	}
	return cmd
}

// hasPools refuses a cluster that has pools.
func hasPools(cluster *api.TalosCluster, pools []api.NodePool) error {
	var all []string
	for _, pool := range pools {
		all = append(all, pool.Name)
	}
	return Hint(fmt.Errorf("cluster %s has %s, and is not deleted: %s", cluster.Name, count(len(all), "pool"), strings.Join(all, ", ")),
		fmt.Sprintf("delete them first: 'minos pool delete %s -n %s --wait'", all[0], cluster.Namespace))
}

// goingWith is what goes with a pool. Of machines that Cluster API makes the status knows the number only.
func goingWith(pool *api.NodePool, machines []api.TalosMachine) [][]string {
	going := [][]string{{"NodePool", pool.Name}}
	for _, machine := range machines {
		going = append(going, []string{"TalosMachine", machine.Name})
		if machine.Status.NodeName != "" {
			going = append(going, []string{"Node", machine.Status.NodeName})
		}
	}
	if made := pool.Status.Replicas; len(machines) == 0 && made != nil && *made > 0 {
		going = append(going, []string{"Machine", fmt.Sprintf("%d of Cluster API, with their Nodes", *made)})
	}
	return going
}

// leftInWords is what remains of a pool that goes.
func leftInWords(pool *api.NodePool, left []api.TalosMachine) string {
	machines := len(left)
	if machines == 0 && pool.Status.Replicas != nil {
		machines = int(*pool.Status.Replicas)
	}
	if machines == 0 {
		return "its machines are gone; the rest is cleaned up"
	}
	return fmt.Sprintf("%s still to go", count(machines, "machine"))
}

// A removal is a deletion that is asked for.
type removal struct {
	word   string
	going  [][]string // kind and name of all that goes
	dryRun bool
}

// remove asks for the deletion of exactly the object that was looked at, or prints what would go.
func (l *live) remove(cmd *cobra.Command, object client.Object, r removal) error {
	uid := object.GetUID()
	options := []client.DeleteOption{client.Preconditions{UID: &uid}}
	if r.dryRun {
		options = append(options, client.DryRunAll)
	}
	err := l.explain(l.Delete(cmd.Context(), object, options...))
	if err != nil {
		return err
	}
	if r.dryRun {
		return Print(cmd.OutOrStdout(), FormatTable, nil, func() Table { return Table{Columns: []string{"Kind", "Name"}, Rows: r.going} })
	}
	say(cmd, "%s %s is being deleted", r.word, object.GetName())
	return nil
}
