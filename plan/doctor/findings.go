// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// A Severity says whether somebody has to act.
type Severity string

// The severities, worst first.
const (
	// Problem: it does not go on by itself, or takes longer than it should.
	Problem Severity = "Problem"
	// Waiting: it is not as wanted yet, and goes on by itself.
	Waiting Severity = "Waiting"
	// Note: the object is Ready, and this is worth knowing.
	Note Severity = "Note"
)

// A Finding is one thing that is not as wanted.
type Finding struct {
	Severity  Severity `json:"severity"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	// Machines are the machines of a pool that the finding is about, if it is about some of them.
	Machines []string `json:"machines,omitempty"`
	// Step is the condition that is not true.
	Step   string `json:"step"`
	Reason string `json:"reason"`
	// Since is when it was last otherwise; nothing if that is not known.
	Since *metav1.Time `json:"since,omitempty"`
	// Cause is why, in words.
	Cause string `json:"cause"`
	// Look is what to look at: commands, and questions to ask.
	Look []string `json:"look,omitempty"`
}

// Seen is what there is to judge. What is not given was not read: of a pool's location, for example, nothing is said then.
type Seen struct {
	Clusters         []api.TalosCluster
	Pools            []api.NodePool
	Machines         []api.TalosMachine
	Locations        []api.Location
	ClusterLocations []api.ClusterLocation

	known []api.TalosCluster // all, where Clusters are some of them: a name is compared with those too
}

// How long things may take before nobody should wait any more.
const (
	patience        = 15 * time.Minute
	firstLook       = time.Minute                           // for the operator to see a new object
	startup         = machines.DefaultStartup * time.Second // for a machine, where its pool says nothing else
	removalPatience = 20 * time.Minute
)

// Findings returns all that is not as wanted, the causes before what follows from them: places, clusters, pools.
func Findings(seen Seen, now time.Time) []Finding {
	e := examination{seen: seen, now: now}
	var found []Finding
	for i := range seen.ClusterLocations {
		place := &seen.ClusterLocations[i]
		found = append(found, e.location(string(api.KindClusterLocation), place.ObjectMeta, place.Status)...)
	}
	for i := range seen.Locations {
		place := &seen.Locations[i]
		found = append(found, e.location(string(api.KindLocation), place.ObjectMeta, place.Status)...)
	}
	for i := range seen.Clusters {
		found = append(found, e.cluster(&seen.Clusters[i])...)
	}
	for i := range seen.Pools {
		found = append(found, e.pool(&seen.Pools[i])...)
	}
	return found
}

// Sick says whether anything is not Ready: notes are about what is.
func Sick(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity != Note })
}

// Only is what concerns one name: a pool with its cluster, its place and its machines, or a cluster with its pools.
func (s Seen) Only(name string) Seen {
	named := slices.ContainsFunc(s.Clusters, func(c api.TalosCluster) bool { return c.Name == name })
	pools := keep(s.Pools, func(p *api.NodePool) bool { return p.Name == name || named && string(p.Spec.ClusterName) == name })
	anyPool := func(holds func(*api.NodePool) bool) bool {
		return slices.ContainsFunc(pools, func(p api.NodePool) bool { return holds(&p) })
	}
	uses := func(kind api.LocationKind, place string) bool {
		return anyPool(func(p *api.NodePool) bool {
			return p.Spec.LocationRef == api.LocationReference{Kind: kind, Name: api.Name(place)}
		})
	}
	return Seen{
		known: s.Clusters,
		Pools: pools,
		Clusters: keep(s.Clusters, func(c *api.TalosCluster) bool {
			return c.Name == name || anyPool(func(p *api.NodePool) bool { return p.Namespace == c.Namespace && string(p.Spec.ClusterName) == c.Name })
		}),
		Machines: keep(s.Machines, func(m *api.TalosMachine) bool {
			return anyPool(func(p *api.NodePool) bool { return owns(p, m) })
		}),
		Locations:        keep(s.Locations, func(l *api.Location) bool { return uses(api.KindLocation, l.Name) }),
		ClusterLocations: keep(s.ClusterLocations, func(l *api.ClusterLocation) bool { return uses(api.KindClusterLocation, l.Name) }),
	}
}

// keep returns the elements that are wanted.
func keep[T any](all []T, wanted func(*T) bool) []T {
	var kept []T
	for i := range all {
		if wanted(&all[i]) {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// owns says whether a machine is of a pool.
func owns(pool *api.NodePool, machine *api.TalosMachine) bool {
	return machine.Namespace == pool.Namespace && string(machine.Spec.PoolName) == pool.Name
}

// machines returns the machines of a pool, in the order of their names.
func (s Seen) machines(pool *api.NodePool) []api.TalosMachine {
	mine := keep(s.Machines, func(m *api.TalosMachine) bool { return owns(pool, m) })
	slices.SortFunc(mine, func(a, b api.TalosMachine) int { return cmp.Compare(a.Name, b.Name) })
	return mine
}
