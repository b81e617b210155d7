// SPDX-License-Identifier: Apache-2.0

package story

import (
	"maps"
	"slices"
)

// A Place is where the machines of a pool are made.
type Place string

// The places: virtual machines through Cluster API, and instances that Minos makes itself.
const (
	House Place = "house"
	Cloud Place = "cloud"
)

// Roles of pools. A cluster has one gateway at most.
const (
	Plain   = "plain"
	Storage = "storage"
	Gateway = "gateway"
)

// A World is what is declared, as far as a story needs to know it. A world is never changed: a deed makes another.
type World struct {
	Clusters map[string]Cluster
}

// A Cluster is its pools by name.
type Cluster map[string]Pool

// A Pool is what is declared of one.
type Pool struct {
	Place                                Place
	Role                                 string
	Replicas, Size, Label, Configuration int
}

// names are those of the clusters, in order.
func (w World) names() []string { return slices.Sorted(maps.Keys(w.Clusters)) }

// names are those of the pools that one accepts, in order.
func (c Cluster) names(accepts func(Pool) bool) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if accepts(c[name]) {
			found = append(found, name)
		}
	}
	return found
}

// IsEmpty says whether nothing is declared.
func (w World) IsEmpty() bool { return len(w.Clusters) == 0 }

// After is the world after a deed.
func (w World) After(deed Deed) World {
	next := World{Clusters: maps.Clone(w.Clusters)}
	if next.Clusters == nil {
		next.Clusters = map[string]Cluster{}
	}
	switch deed.Kind {
	case MakeCluster:
		if next.Clusters[deed.Cluster] == nil { // or its pools came first
			next.Clusters[deed.Cluster] = Cluster{}
		}
		return next
	case RemoveCluster:
		delete(next.Clusters, deed.Cluster)
		return next
	}
	pools := maps.Clone(next.Clusters[deed.Cluster])
	if pools == nil {
		pools = Cluster{}
	}
	if deed.Kind == RemovePool {
		delete(pools, deed.Pool)
	} else if pool, known := pools[deed.Pool]; known || deed.Kind == MakePool {
		pools[deed.Pool] = pool.after(deed)
	} else {
		return next
	}
	next.Clusters[deed.Cluster] = pools
	return next
}

// after is the pool after a deed.
func (p Pool) after(deed Deed) Pool {
	switch deed.Kind {
	case MakePool:
		return Pool{Place: deed.Place, Role: deed.What, Replicas: deed.Number}
	case ScalePool:
		p.Replicas = deed.Number
	case ResizePool:
		p.Size = deed.Number
	case RelabelPool:
		p.Label = deed.Number
	case PatchPool:
		p.Configuration = deed.Number
	}
	return p
}

// ClusterNames are what clusters of a story are called.
func ClusterNames() []string { return slices.Clone(clusters) }
