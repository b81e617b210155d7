// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// A Budget is what a roll-out may disturb, with all defaults filled in.
type Budget struct {
	// Surge is how many machines may exist above the wanted number.
	Surge intstr.IntOrString
	// Unavailable is how many of the wanted machines may be away.
	Unavailable intstr.IntOrString
	// DrainSeconds is how long pods are given to leave; zero is as long as it takes.
	DrainSeconds int32
}

// BudgetOf is what a roll-out of a pool may disturb: what the pool says, or the cluster, or the default. A role that a cluster may
// have once only is taken away before it is made anew: two machines of it are never there at the same time.
func BudgetOf(cluster *api.TalosCluster, pool *api.NodePool, role *api.NodeRole) Budget {
	budget := Budget{Surge: intstr.FromInt32(1), DrainSeconds: machines.DefaultDrain}
	if pool.Spec.Machine.Metal != nil {
		budget.Surge, budget.Unavailable = intstr.FromInt32(0), intstr.FromInt32(1)
	}
	for _, said := range []*api.Rollout{cluster.Spec.Rollout, pool.Spec.Rollout} {
		budget = budget.with(said)
	}
	if role.Spec.PerCluster == api.PerClusterOne {
		budget.Surge, budget.Unavailable = intstr.FromInt32(0), intstr.FromInt32(1)
	}
	return budget
}

// with is a budget with what somebody says of it.
func (b Budget) with(said *api.Rollout) Budget {
	if said == nil {
		return b
	}
	if said.MaxSurge != nil {
		b.Surge = *said.MaxSurge
	}
	if said.MaxUnavailable != nil {
		b.Unavailable = *said.MaxUnavailable
	}
	if said.DrainTimeoutSeconds != nil {
		b.DrainSeconds = *said.DrainTimeoutSeconds
	}
	return b
}
