// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// ago is a time before now.
func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// condition is one that has been so for two minutes.
func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(2 * time.Minute)}
}

// all is every condition of a roll-up, true, and Ready.
func all(rollup api.Rollup) []metav1.Condition {
	conditions := []metav1.Condition{condition(api.ConditionReady, metav1.ConditionTrue, api.ReasonReady, "")}
	for _, part := range rollup {
		conditions = append(conditions, condition(part, metav1.ConditionTrue, api.ReasonReady, ""))
	}
	return conditions
}

// but replaces a condition, and Ready with it.
func but(conditions []metav1.Condition, changed ...metav1.Condition) []metav1.Condition {
	conditions = slices.Clone(conditions)
	for _, c := range changed {
		conditions = slices.DeleteFunc(conditions, func(was metav1.Condition) bool {
			return was.Type == c.Type || was.Type == api.ConditionReady && c.Status != metav1.ConditionTrue
		})
		conditions = append(conditions, c)
	}
	return conditions
}

// healthy is a cluster with a pool of two machines in a place, and all is well.
func healthy() Seen {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "acme", Generation: 1, CreationTimestamp: ago(time.Hour)}
	}
	per, two := int32(2), int32(2)
	cluster := api.TalosCluster{ObjectMeta: meta("shop")}
	cluster.Spec.ControlPlane.Kamaji = &api.KamajiControlPlane{}
	cluster.Status = api.TalosClusterStatus{
		ObservedGeneration: 1, Conditions: all(api.TalosClusterReady), Endpoint: &api.Endpoint{Host: "shop.example.com", Port: 6443},
	}
	pool := api.NodePool{ObjectMeta: meta("workers")}
	pool.Spec = api.NodePoolSpec{ClusterName: "shop", Role: "compute", LocationRef: api.LocationReference{Kind: api.KindClusterLocation, Name: "hall"}, Machine: api.Machine{Sim: &api.SimMachine{}}}
	pool.Status = api.NodePoolStatus{ObservedGeneration: 1, Conditions: all(api.NodePoolReady), DesiredReplicas: &two, ReadyReplicas: &two}
	place := api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: "hall", Generation: 1, CreationTimestamp: ago(time.Hour)}}
	place.Spec.Sim = &api.SimLocation{Place: api.Place{Limits: &api.PlaceLimits{MachinesPerNamespace: &per, InstanceTypes: []string{"s", "m"}}}}
	place.Status = api.LocationStatus{ObservedGeneration: 1, Conditions: all(api.LocationReady)}
	seen := Seen{Clusters: []api.TalosCluster{cluster}, Pools: []api.NodePool{pool}, ClusterLocations: []api.ClusterLocation{place}}
	for _, name := range []string{"workers-a", "workers-b"} {
		machine := api.TalosMachine{ObjectMeta: meta(name)}
		machine.Spec = api.TalosMachineSpec{ClusterName: "shop", PoolName: "workers"}
		machine.Status = api.TalosMachineStatus{Conditions: all(api.TalosMachineReady), Addresses: []api.Address{"192.0.2.7"}, NodeName: name}
		seen.Machines = append(seen.Machines, machine)
	}
	return seen
}

// short is a finding in a line.
func short(f Finding) string {
	object := fmt.Sprintf("%s %s/%s", f.Severity, f.Kind, f.Name)
	if len(f.Machines) > 0 {
		object += fmt.Sprint(f.Machines)
	}
	return fmt.Sprintf("%s %s/%s: %s", object, f.Step, f.Reason, f.Cause)
}

// waitingFor makes machines wait at a step.
func waitingFor(seen *Seen, c metav1.Condition, which ...int) {
	at := slices.Index(api.TalosMachineReady, c.Type)
	for _, i := range which {
		seen.Machines[i].Status.Conditions = append(all(api.TalosMachineReady[:at])[1:], c)
	}
	seen.Pools[0].Status.Conditions = but(seen.Pools[0].Status.Conditions,
		condition(api.ConditionMachinesReady, metav1.ConditionFalse, api.ReasonProgressing, "too few"))
}
