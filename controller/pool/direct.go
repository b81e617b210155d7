// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	plan "minos.dev/minos/plan/pool"
)

// Direct looks after the machines of pools that Cluster API does not serve.
type Direct interface {
	// Reconcile brings the machines of a pool a step closer to what is wanted, and says what it sees of them. It is called again
	// when one of the pool's TalosMachines changes.
	Reconcile(ctx context.Context, wanted Wanted) (Seen, error)
	// Delete has all machines of a pool removed, and says how many are left. It is called again until none is. The pool's cluster
	// may be gone.
	Delete(ctx context.Context, pool *api.NodePool) (left int, err error)
}

// Seen is what is seen of the machines of a pool.
type Seen = plan.Seen

// Wanted is what the machines of a pool should be.
type Wanted struct {
	// Cluster is the cluster that they join. Its Kubernetes version is that of the kubelets: never ahead of the API server.
	Cluster *api.TalosCluster
	// Pool is the pool.
	Pool *api.NodePool
	// Role is its role, with what it extends folded in.
	Role *api.NodeRole
	// Location is its place.
	Location api.LocationSpec
	// Replicas is how many machines the pool may have now: what it declares, or what the place grants of it. For an autoscaled pool
	// it is the greatest number.
	Replicas int32
	// Revision is the Secret with the configuration, in the key value. A new name has a new content.
	Revision string
	// Rolls names that for which machines roll. Two revisions with the same differ in what Talos changes on a running machine.
	Rolls string
	// Configuration is what the Secret holds.
	Configuration []byte
	// Image is what new machines boot, and Services says that it has services which must run before a machine works.
	Image    backend.Image
	Services bool
	// Budget is what a roll-out may disturb.
	Budget plan.Budget
}

// AnnotationRolls is on a TalosMachine: what Wanted.Rolls was when it was made.
const AnnotationRolls = "minos.dev/rolls"
