// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	api "minos.dev/minos/api/v1alpha1"
)

// FormatWide is the table with more columns.
const FormatWide Format = "wide"

// A listing is what a list shows: the columns are those that kubectl has, the last of them only in the wide form.
type listing struct {
	columns []string
	narrow  int // how many columns the ordinary form has
	rows    [][]string
}

// table is the listing in a form, with the namespace in front where objects of several are listed.
func (l listing) table(format Format, namespaces []string) Table {
	shown := l.narrow
	if format == FormatWide {
		shown = len(l.columns)
	}
	table := Table{Columns: slices.Clone(l.columns[:shown])}
	for i, row := range l.rows {
		cells := slices.Clone(row[:shown])
		if namespaces != nil {
			cells = slices.Insert(cells, 0, namespaces[i])
		}
		table.Rows = append(table.Rows, cells)
	}
	if namespaces != nil {
		table.Columns = slices.Insert(table.Columns, 0, "Namespace")
	}
	return table
}

// clusterListing lists clusters.
func clusterListing(clusters []api.TalosCluster, now time.Time) listing {
	all := listing{columns: []string{"Name", "Kubernetes", "Talos", "Endpoint", "Pools", "Nodes", "Ready", "Age", "Reason"}, narrow: 8}
	for _, cluster := range clusters {
		status, endpoint := cluster.Status, ""
		if status.Endpoint != nil {
			endpoint = status.Endpoint.Host
		}
		ready, reason := readiness(status.Conditions)
		all.rows = append(all.rows, []string{
			cluster.Name, string(cluster.Spec.KubernetesVersion), string(cluster.Spec.TalosVersion), endpoint,
			number(status.Pools), number(status.ReadyMachines), ready, ageOf(cluster.CreationTimestamp, now), reason,
		})
	}
	return all
}

// poolListing lists pools.
func poolListing(pools []api.NodePool, now time.Time) listing {
	all := listing{
		columns: []string{"Name", "Cluster", "Role", "Desired", "Current", "Nodes", "Up-to-date", "Ready", "Age", "Location", "Version", "Reason"},
		narrow:  9,
	}
	for _, pool := range pools {
		status := pool.Status
		ready, reason := readiness(status.Conditions)
		all.rows = append(all.rows, []string{
			pool.Name, string(pool.Spec.ClusterName), string(pool.Spec.Role),
			number(status.DesiredReplicas), number(status.Replicas), number(status.ReadyReplicas), number(status.UpToDateReplicas),
			ready, ageOf(pool.CreationTimestamp, now), string(pool.Spec.LocationRef.Name), string(status.TalosVersion), reason,
		})
	}
	return all
}

// machineListing lists machines of one pool.
func machineListing(machines []api.TalosMachine, now time.Time) listing {
	all := listing{columns: []string{"Machine", "Node", "Ready", "Step", "Age", "Version", "Waits-for"}, narrow: 7}
	for _, machine := range machines {
		ready, reason := readiness(machine.Status.Conditions)
		waits := ""
		if condition := meta.FindStatusCondition(machine.Status.Conditions, api.ConditionReady); condition != nil && condition.Status != metav1.ConditionTrue {
			waits = condition.Message
		}
		if !machine.DeletionTimestamp.IsZero() {
			reason = api.ReasonDeleting
		}
		all.rows = append(all.rows, []string{
			machine.Name, machine.Status.NodeName, ready, reason, ageOf(machine.CreationTimestamp, now), machine.Status.TalosVersion, waits,
		})
	}
	return all
}

// conditionListing lists conditions, those that are the parts of Ready in their order.
func conditionListing(conditions []metav1.Condition, rollup api.Rollup, now time.Time) listing {
	sorted := slices.Clone(conditions)
	order := append(api.Rollup{api.ConditionReady}, rollup...)
	slices.SortStableFunc(sorted, func(a, b metav1.Condition) int { return place(order, a.Type) - place(order, b.Type) })
	all := listing{columns: []string{"Condition", "Status", "Reason", "Age", "Message"}, narrow: 5}
	for _, condition := range sorted {
		all.rows = append(all.rows, []string{
			condition.Type, string(condition.Status), condition.Reason, ageOf(condition.LastTransitionTime, now), condition.Message,
		})
	}
	return all
}

// place is where a condition stands in an order; one that is not in it comes last.
func place(order api.Rollup, kind string) int {
	if at := slices.Index(order, kind); at >= 0 {
		return at
	}
	return len(order)
}

// readiness is the status of Ready and its reason.
func readiness(conditions []metav1.Condition) (status, reason string) {
	if ready := meta.FindStatusCondition(conditions, api.ConditionReady); ready != nil {
		return string(ready.Status), ready.Reason
	}
	return "", ""
}

// number is a count, or nothing if it is not known.
func number(count *int32) string {
	if count == nil {
		return ""
	}
	return strconv.Itoa(int(*count))
}

// ageOf is how long ago something was, as kubectl says it.
func ageOf(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// machinesInWords are the counts of a pool in a line.
func machinesInWords(status api.NodePoolStatus) string {
	known := func(count *int32) string {
		if count == nil {
			return "?"
		}
		return number(count)
	}
	return fmt.Sprintf("%s wanted, %s exist, %s Ready, %s up to date",
		known(status.DesiredReplicas), known(status.Replicas), known(status.ReadyReplicas), known(status.UpToDateReplicas))
}
