// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// mostMachines is how many machines a pool may have.
const mostMachines = 5000

// newPoolScale returns the command that changes how many machines a pool has.
func newPoolScale() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "scale NAME COUNT",
		SuggestFor: []string{"resize"},
		Short:      "Change how many machines a pool has",
		Long: `Changes the number of machines of a pool, and nothing else: machines are made or
drained and removed, and none is rolled. The number of an autoscaled pool is the
autoscaler's, and that of a metal pool is its hosts': both are refused.`,
		Example: "minos pool scale workers 5 --wait\nminos pool scale workers 0 --dry-run",
	}
	access, wait := accessFlags(cmd), waitFlags(cmd)
	dryRun := dryRunFlag(cmd, "say what would change, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		wanted, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil || wanted < 0 || wanted > mostMachines {
			return fmt.Errorf("COUNT: %q is not a number of machines from 0 to %d", args[1], mostMachines)
		}
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		pool, err := l.pool(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if err := scalable(pool); err != nil {
			return err
		}
		if err := l.scale(cmd.Context(), pool, int32(wanted), *dryRun); err != nil {
			return err
		}
		say(cmd, "%s", scaleInWords(pool, int32(wanted), *dryRun))
		if *dryRun {
			return nil
		}
		return wait.until(cmd, l.poolReady(pool.Name))
	}
	return cmd
}

// scalable says why the number of a pool is not for people to change.
func scalable(pool *api.NodePool) error {
	switch spec := pool.Spec; {
	case !pool.DeletionTimestamp.IsZero():
		return fmt.Errorf("pool %s is being deleted: its machines go, whatever their number", pool.Name)
	case spec.Autoscaling != nil:
		return Hint(fmt.Errorf("pool %s is autoscaled between %s and %s machines: its number is the autoscaler's", pool.Name, number(spec.Autoscaling.Min), number(spec.Autoscaling.Max)),
			"change spec.autoscaling with 'kubectl edit nodepool "+pool.Name+"', or remove it there and set spec.replicas")
	case spec.Machine.Metal != nil:
		return Hint(fmt.Errorf("pool %s has as many machines as it lists hosts: %d", pool.Name, len(spec.Machine.Metal.Hosts)),
			"add or remove hosts in spec.machine.metal.hosts with 'kubectl edit nodepool "+pool.Name+"'")
	}
	return nil
}

// scale changes the number through the scale subresource, for which a right of its own can be given.
func (l *live) scale(ctx context.Context, pool *api.NodePool, wanted int32, dryRun bool) error {
	body := &autoscalingv1.Scale{}
	body.Name, body.Namespace = pool.Name, pool.Namespace
	body.Spec.Replicas = wanted
	options := []client.SubResourceUpdateOption{client.WithSubResourceBody(body)}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	return l.explain(l.SubResource("scale").Update(ctx, pool.DeepCopy(), options...))
}

// scaleInWords says what follows from the change.
func scaleInWords(pool *api.NodePool, wanted int32, dryRun bool) string {
	had := *pool.Spec.Replicas
	change, will := "", "will"
	if dryRun {
		will = "would"
	}
	switch {
	case wanted > had:
		change = fmt.Sprintf("%s %s be made", count(int(wanted-had), "machine"), will)
	case wanted < had:
		change = fmt.Sprintf("%s %s be drained and removed", count(int(had-wanted), "machine"), will)
	default:
		return fmt.Sprintf("pool %s wants %s already", pool.Name, count(int(wanted), "machine"))
	}
	return fmt.Sprintf("pool %s: from %d to %d: %s; no other is rolled", pool.Name, had, wanted, change)
}
