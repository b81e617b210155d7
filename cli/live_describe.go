// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
	"minos.dev/minos/plan/names"
)

// newClusterDescribe returns the command that shows one cluster.
func newClusterDescribe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe NAME",
		Short: "Show one cluster: what it should be, how far it is, its pools",
		Long: `Shows a cluster in short, its conditions with the time since each is so, and its
pools. 'minos doctor NAME' says what to look at where something is missing.`,
		Example: "minos cluster describe shop\nminos cluster describe shop -o yaml",
	}
	access, format := accessFlags(cmd), OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		cluster, err := l.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if *format != FormatTable {
			return Print(cmd.OutOrStdout(), *format, clean(cluster), nil)
		}
		pools, err := l.poolsOf(cmd.Context(), cluster.Name)
		if err != nil {
			return err
		}
		return describeCluster(cmd.OutOrStdout(), cluster, pools, time.Now())
	}
	return cmd
}

// newPoolDescribe returns the command that shows one pool.
func newPoolDescribe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe NAME",
		Short: "Show one pool: what it should be, how far it is, its machines",
		Long: `Shows a pool in short, its conditions with the time since each is so, its
machines with the step that each waits for. 'minos doctor NAME' says what to
look at where something is missing.`,
		Example: "minos pool describe workers\nminos pool describe workers -o yaml",
	}
	access, format := accessFlags(cmd), OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		pool, err := l.pool(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if *format != FormatTable {
			return Print(cmd.OutOrStdout(), *format, clean(pool), nil)
		}
		machines, err := l.machinesOf(cmd.Context(), pool)
		if err != nil {
			return err
		}
		return describePool(cmd.OutOrStdout(), pool, machines, time.Now())
	}
	return cmd
}

// A fact is a line of a description: what it is about, and what it is. One without a value is left out.
type fact struct{ name, value string }

// A description is facts and tables.
type description struct {
	facts  []fact
	tables []Table
	last   string // a sentence at the end
}

// write writes a description. Tables without rows are left out.
func (d description) write(w io.Writer) error {
	var b strings.Builder
	facts := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, fact := range d.facts {
		if fact.value != "" {
			_, _ = fmt.Fprintf(facts, "%s\t%s\n", fact.name, fact.value) // Flush answers for all
		}
	}
	if err := facts.Flush(); err != nil {
		return err
	}
	for _, table := range d.tables {
		if len(table.Rows) == 0 {
			continue
		}
		text, err := table.text()
		if err != nil {
			return err
		}
		b.WriteString("\n" + string(text))
	}
	if d.last != "" {
		b.WriteString("\n" + d.last + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describeCluster describes a cluster.
func describeCluster(w io.Writer, cluster *api.TalosCluster, pools []api.NodePool, now time.Time) error {
	spec, status := cluster.Spec, cluster.Status
	endpoint := ""
	if at := cmp.Or(status.Endpoint, spec.Endpoint); at != nil {
		endpoint = fmt.Sprintf("%s:%d", at.Host, at.Port)
	}
	network := cmp.Or(status.Network, spec.Network)
	pods, services, machines := "", "", ""
	if status.Machines != nil {
		machines = fmt.Sprintf("%s, %s Ready", number(status.Machines), cmp.Or(number(status.ReadyMachines), "?"))
	}
	if network != nil {
		pods, services = joined(network.PodCIDRs), joined(network.ServiceCIDRs)
	}
	return description{
		facts: []fact{
			{"Cluster", cluster.Name},
			{"Namespace", cluster.Namespace},
			{"Kubernetes", versionInWords(string(spec.KubernetesVersion), string(status.KubernetesVersion))},
			{"Talos", string(spec.TalosVersion)},
			{"Control plane", controlPlaneInWords(spec.ControlPlane)},
			{"Endpoint", endpoint},
			{"Pods", pods},
			{"Services", services},
			{"Machines", machines},
			{"Age", ageOf(cluster.CreationTimestamp, now)},
		},
		tables: []Table{
			conditionListing(status.Conditions, api.TalosClusterReady, now).table(FormatTable, nil),
			poolListing(pools, now).table(FormatTable, nil),
		},
		last: waitsFor(cluster, status.Conditions),
	}.write(w)
}

// describePool describes a pool.
func describePool(w io.Writer, pool *api.NodePool, machines []api.TalosMachine, now time.Time) error {
	spec, status := pool.Spec, pool.Status
	last := waitsFor(pool, status.Conditions)
	if last != "" && pool.DeletionTimestamp.IsZero() {
		last = "It is not Ready: " + doctor.Progress(pool, machines)
	}
	made := ""
	if spec.Machine.KubeVirt != nil {
		made = fmt.Sprintf("by Cluster API: kubectl -n %s get machines.cluster.x-k8s.io -l %s=%s", pool.Namespace, names.LabelClusterAPI, spec.ClusterName)
	}
	return description{
		facts: []fact{
			{"Pool", pool.Name},
			{"Namespace", pool.Namespace},
			{"Cluster", string(spec.ClusterName)},
			{"Role", string(spec.Role)},
			{"Location", fmt.Sprintf("%s/%s", spec.LocationRef.Kind, spec.LocationRef.Name)},
			{"Wanted", wantedInWords(spec)},
			{"Size", sizeInWords(spec.Machine)},
			{"Machines", machinesInWords(status)},
			{"Made", made},
			{"Talos", string(status.TalosVersion)},
			{"Kubernetes", string(status.KubernetesVersion)},
			{"Revision", status.Revision},
			{"Age", ageOf(pool.CreationTimestamp, now)},
		},
		tables: []Table{
			conditionListing(status.Conditions, api.NodePoolReady, now).table(FormatTable, nil),
			machineListing(machines, now).table(FormatTable, nil),
		},
		last: last,
	}.write(w)
}

// waitsFor is what keeps an object from being Ready, as a sentence; nothing if it is Ready.
func waitsFor(object metav1.Object, conditions []metav1.Condition) string {
	if !object.GetDeletionTimestamp().IsZero() {
		return fmt.Sprintf("It is being deleted, held by %s.", strings.Join(object.GetFinalizers(), ", "))
	}
	ready := meta.FindStatusCondition(conditions, api.ConditionReady)
	switch {
	case ready == nil:
		return "It is not Ready: nobody has looked at it yet."
	case ready.Status != metav1.ConditionTrue:
		return fmt.Sprintf("It is not Ready: %s: %s", ready.Reason, ready.Message)
	}
	return ""
}

// versionInWords is the wanted version, and the one that runs if it is another.
func versionInWords(wanted, runs string) string {
	if runs == "" || runs == wanted {
		return wanted
	}
	return fmt.Sprintf("%s, runs %s", wanted, runs)
}

// controlPlaneInWords is the member that is set.
func controlPlaneInWords(plane api.ControlPlane) string {
	switch {
	case plane.Kamaji != nil:
		return "kamaji"
	case plane.External != nil:
		return fmt.Sprintf("external, by Secret %s", plane.External.KubeconfigSecretRef.Name)
	case plane.Talos != nil:
		return "talos"
	}
	return ""
}

// wantedInWords is how many machines the spec wants.
func wantedInWords(spec api.NodePoolSpec) string {
	switch {
	case spec.Autoscaling != nil:
		return fmt.Sprintf("%s to %s, by the autoscaler", number(spec.Autoscaling.Min), number(spec.Autoscaling.Max))
	case spec.Machine.Metal != nil:
		return count(len(spec.Machine.Metal.Hosts), "host")
	}
	return number(spec.Replicas)
}

// sizeInWords is how large a machine is.
func sizeInWords(machine api.Machine) string {
	var parts []string
	resources := func(r *api.Resources) {
		if r != nil {
			parts = append(parts, fmt.Sprintf("cpu %s, memory %s", r.CPU.String(), r.Memory.String()))
		}
	}
	switch {
	case machine.KubeVirt != nil:
		if machine.KubeVirt.Size.InstanceType != "" {
			parts = append(parts, machine.KubeVirt.Size.InstanceType)
		}
		resources(machine.KubeVirt.Size.Resources)
		if disk := machine.KubeVirt.Disk; disk != nil && disk.Size != nil {
			parts = append(parts, "disk "+disk.Size.String())
		}
	case machine.Sim != nil:
		resources(machine.Sim.Resources)
	}
	return strings.Join(parts, ", ")
}
