// SPDX-License-Identifier: Apache-2.0

// Package fleet puts together what a set of declarations says: which pools a cluster has, with which role, in which
// place, from which image, and so the configuration of every machine. A folder and a management cluster are both such a
// set.
package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// A Fleet is what a set of objects declares.
type Fleet struct {
	clusters  map[key]*api.TalosCluster
	pools     []*api.NodePool
	locations map[key]api.LocationSpec
	roles     talos.Roles
}

// A key names an object among all: what has no namespace has an empty one.
type key struct{ kind, namespace, name string }

// New takes objects as they are declared, each with its namespace. That there are no two of one name is for the checks.
func New(objects []load.Object) (*Fleet, error) {
	f := &Fleet{clusters: map[key]*api.TalosCluster{}, locations: map[key]api.LocationSpec{}}
	var roles []*api.NodeRole
	for _, object := range objects {
		switch object := object.(type) {
		case *api.TalosCluster:
			f.clusters[key{"TalosCluster", object.Namespace, object.Name}] = object
		case *api.NodePool:
			f.pools = append(f.pools, object)
		case *api.NodeRole:
			roles = append(roles, object)
		case *api.Location:
			f.locations[key{string(api.KindLocation), object.Namespace, object.Name}] = object.Spec
		case *api.ClusterLocation:
			f.locations[key{string(api.KindClusterLocation), "", object.Name}] = object.Spec
		}
	}
	var err error
	f.roles, err = talos.NewRoles(roles...)
	return f, err
}

// Clusters returns all clusters, by namespace and name.
func (f *Fleet) Clusters() []*api.TalosCluster {
	var all []*api.TalosCluster
	for _, cluster := range f.clusters {
		all = append(all, cluster)
	}
	slices.SortFunc(all, func(a, b *api.TalosCluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Pools returns the pools of a cluster, by name.
func (f *Fleet) Pools(cluster *api.TalosCluster) []*api.NodePool {
	var all []*api.NodePool
	for _, pool := range f.pools {
		if pool.Namespace == cluster.Namespace && string(pool.Spec.ClusterName) == cluster.Name {
			all = append(all, pool)
		}
	}
	slices.SortFunc(all, func(a, b *api.NodePool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Role returns the role of a pool, with what it extends folded in.
func (f *Fleet) Role(pool *api.NodePool) (*api.NodeRole, error) {
	return f.roles.Resolve(pool.Spec.Role)
}

// Cluster returns the cluster that a pool names.
func (f *Fleet) Cluster(pool *api.NodePool) (*api.TalosCluster, error) {
	name := string(pool.Spec.ClusterName)
	if cluster, ok := f.clusters[key{"TalosCluster", pool.Namespace, name}]; ok {
		return cluster, nil
	}
	return nil, fmt.Errorf("there is no TalosCluster %q in namespace %q%s", name, pool.Namespace,
		hint(name, namesOf(f.clusters, "TalosCluster", pool.Namespace)))
}

// Location returns the place that a pool names.
func (f *Fleet) Location(pool *api.NodePool) (api.LocationSpec, error) {
	kind, name, namespace := string(pool.Spec.LocationRef.Kind), string(pool.Spec.LocationRef.Name), pool.Namespace
	where := fmt.Sprintf(" in namespace %q", namespace)
	if pool.Spec.LocationRef.Kind == api.KindClusterLocation {
		namespace, where = "", ""
	}
	if spec, ok := f.locations[key{kind, namespace, name}]; ok {
		return spec, nil
	}
	return api.LocationSpec{}, fmt.Errorf("there is no %s %q%s%s", kind, name, where, hint(name, namesOf(f.locations, kind, namespace)))
}

// hint offers the nearest name, or else says what to do.
func hint(name string, known []string) string {
	return cmp.Or(nearest.Hint(name, known), ": declare it, or correct the name")
}

// namesOf returns the names of the objects of one kind in one namespace, sorted.
func namesOf[T any](objects map[key]T, kind, namespace string) []string {
	var names []string
	for key := range objects {
		if key.kind == kind && key.namespace == namespace {
			names = append(names, key.name)
		}
	}
	slices.Sort(names)
	return names
}

// Chain returns a role and those that it extends, the nearest first. A role that leads nowhere or in a circle is an error.
func (f *Fleet) Chain(role api.Name) ([]*api.NodeRole, error) {
	return f.roles.Chain(role)
}
