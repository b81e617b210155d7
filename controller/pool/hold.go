// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
)

// +kubebuilder:rbac:groups=minos.dev,resources=talosclusters,verbs=patch

// hold writes down that the pool has its role, where only one may have it, before anything is made for it. Whoever else has it is
// read from the API server itself, and the write fails if anybody wrote meanwhile: then all is looked at again.
func (t *turn) hold(ctx context.Context) (refusal *plan.Refusal, err error) {
	if !plan.IsExclusive(t.role) || plan.Holds(t.cluster, t.pool) {
		return nil, nil
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		refusal, err = t.tryHold(ctx)
		return err
	})
	return refusal, wrap(err, "write down who has role %s", t.pool.Spec.Role)
}

// tryHold tries it once.
func (t *turn) tryHold(ctx context.Context) (*plan.Refusal, error) {
	cluster := &api.TalosCluster{}
	if err := t.fresh().Get(ctx, client.ObjectKeyFromObject(t.cluster), cluster); err != nil {
		return nil, err
	}
	if plan.Holds(cluster, t.pool) {
		return nil, nil
	}
	pools := &api.NodePoolList{}
	if err := t.fresh().List(ctx, pools, client.InNamespace(t.pool.Namespace)); err != nil {
		return nil, fmt.Errorf("list the pools of TalosCluster %s: %w", cluster.Name, err)
	}
	var siblings []api.NodePool
	for _, pool := range pools.Items {
		if pool.Spec.ClusterName == t.pool.Spec.ClusterName {
			siblings = append(siblings, pool)
		}
	}
	if refusal := plan.Play(t.pool, t.role, cluster, siblings); refusal != nil {
		return refusal, nil
	}
	text, err := plan.Hold(cluster, t.pool)
	if err != nil {
		return nil, err
	}
	before := cluster.DeepCopy()
	metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, plan.AnnotationHolders, text)
	return nil, t.Client.Patch(ctx, cluster, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(names.Owner))
}

// gaveUp notices that a roll-out of a pool ended: a role that it had before is free from then on.
var gaveUp = predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
	before, was := update.ObjectOld.(*api.NodePool)
	after, is := update.ObjectNew.(*api.NodePool)
	return was && is && !plan.IsRolled(before) && plan.IsRolled(after)
}}
