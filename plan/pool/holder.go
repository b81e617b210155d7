// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
)

// AnnotationHolders is on a TalosCluster: the identities of the pools that have the roles of which only one pool may be, by role. A
// pool is written down there before anything is made for it, and there is one place to write to: of two that try, one finds the
// other. When pools were made cannot decide it alone, because clocks have seconds and differ, and roles of pools change.
const AnnotationHolders = "minos.dev/role-holders"

// IsExclusive says whether only one pool of a cluster may have a role.
func IsExclusive(role *api.NodeRole) bool {
	return role.Spec.PerCluster == api.PerClusterOne || role.Spec.PerCluster == api.PerClusterHA
}

// Holds says whether it is written down that a pool has its role.
func Holds(cluster *api.TalosCluster, pool *api.NodePool) bool {
	return pool.UID != "" && holders(cluster)[pool.Spec.Role] == pool.UID
}

// Hold is what is to be written down so that a pool has its role: the value of AnnotationHolders. What nobody can read any more is
// written anew.
func Hold(cluster *api.TalosCluster, pool *api.NodePool) (string, error) {
	all := holders(cluster)
	all[pool.Spec.Role] = pool.UID
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("write down who has role %s: %w", pool.Spec.Role, err)
	}
	return string(text), nil
}

// holders are those that are written down.
func holders(cluster *api.TalosCluster) map[api.Name]types.UID {
	all := map[api.Name]types.UID{}
	if json.Unmarshal([]byte(cluster.Annotations[AnnotationHolders]), &all) != nil || all == nil {
		return map[api.Name]types.UID{}
	}
	return all
}

// holder is the pool that is written down for a role, or nil if it is gone. One that has another role by now keeps this one until
// none of its machines is of before.
func holder(role api.Name, cluster *api.TalosCluster, pools []api.NodePool) *api.NodePool {
	identity := holders(cluster)[role]
	for at := range pools {
		pool := &pools[at]
		if identity == "" || pool.UID != identity {
			continue
		}
		if pool.Spec.Role == role || !IsRolled(pool) {
			return pool
		}
	}
	return nil
}

// IsRolled says whether none of a pool's machines is of before what it declares now.
func IsRolled(pool *api.NodePool) bool {
	return pool.Status.ObservedGeneration == pool.Generation && meta.IsStatusConditionTrue(pool.Status.Conditions, api.ConditionUpToDate)
}
