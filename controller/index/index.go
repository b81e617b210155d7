// SPDX-License-Identifier: Apache-2.0

// Package index is how pools are found in the cache without looking at all of them: by their cluster, their place and their role.
package index

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// The indexes of pools.
const (
	// Cluster finds the pools of a cluster, by its name, in a namespace.
	Cluster = "spec.clusterName"
	// Location finds the pools of a place, by [Place], in all namespaces.
	Location = "spec.locationRef"
	// Role finds the pools of a role, by its name, in all namespaces.
	Role = "spec.role"
)

// Register has a cache keep the indexes. It is called once for a manager.
func Register(ctx context.Context, indexer client.FieldIndexer) error {
	for field, key := range map[string]func(*api.NodePool) string{
		Cluster:  func(pool *api.NodePool) string { return string(pool.Spec.ClusterName) },
		Location: Of,
		Role:     func(pool *api.NodePool) string { return string(pool.Spec.Role) },
	} {
		err := indexer.IndexField(ctx, &api.NodePool{}, field, func(object client.Object) []string {
			pool, ok := object.(*api.NodePool)
			if !ok {
				return nil
			}
			return []string{key(pool)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Of is the place of a pool.
func Of(pool *api.NodePool) string {
	return Place(pool.Spec.LocationRef.Kind, pool.Namespace, string(pool.Spec.LocationRef.Name))
}

// Place names a place. That of a tenant is one of its namespace.
func Place(kind api.LocationKind, namespace, name string) string {
	if kind == api.KindClusterLocation {
		namespace = ""
	}
	return string(kind) + "/" + namespace + "/" + name
}
