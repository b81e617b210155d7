// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// soon is when to look again at a pool whose machines go away.
const soon = 10 * time.Second

// remove has everything of a pool removed: machines first, and only then what they were made from. It says what is left.
func (r *Reconciler) remove(ctx context.Context, pool *api.NodePool) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(pool, names.Finalizer) {
		return reconcile.Result{}, nil
	}
	now := &turn{Reconciler: r, pool: pool}
	left, err := now.removeMachines(ctx)
	if err == nil && left == "" {
		err = now.removeRest(ctx)
	}
	if err != nil {
		now.say(plan.Refuse(api.ReasonDeleting, "the pool is being deleted, and that fails: %s", err.Error()).Condition(api.ConditionMachinesReady))
		_, _ = now.report(ctx, nil) // what failed first is returned
		return reconcile.Result{}, err
	}
	if left != "" {
		now.say(plan.Refuse(api.ReasonDeleting, "the pool is being deleted: %s", left).Condition(api.ConditionMachinesReady))
		_, err := now.report(ctx, nil)
		return reconcile.Result{RequeueAfter: soon}, err
	}
	r.uses.forget(client.ObjectKeyFromObject(pool))
	r.noticed.forget(client.ObjectKeyFromObject(pool))
	before := pool.DeepCopy()
	controllerutil.RemoveFinalizer(pool, names.Finalizer)
	err = r.Client.Patch(ctx, pool, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// removeMachines has the machines removed, and says which are left.
func (t *turn) removeMachines(ctx context.Context) (left string, err error) {
	if t.pool.Spec.Machine.KubeVirt != nil {
		return t.removeVirtual(ctx)
	}
	if t.Direct == nil {
		return "", nil
	}
	count, err := t.Direct.Delete(ctx, t.pool)
	t.leaving = count
	if err != nil || count == 0 {
		return "", err
	}
	return fmt.Sprintf("%d machines are left", count), nil
}

// removeVirtual has Cluster API remove them. Without its kinds there are none.
func (t *turn) removeVirtual(ctx context.Context) (left string, err error) {
	if err := t.look(ctx); err != nil || len(t.missing) > 0 {
		return "", err
	}
	for _, kind := range []*unstructured.Unstructured{empty(virtual.HealthKind), empty(virtual.DeploymentKind)} {
		err = errors.Join(err, t.removeOwned(ctx, kind))
	}
	if err = errors.Join(err, t.removeKept(ctx)); err != nil {
		return "", err
	}
	if t.live.Deployment == nil && len(t.live.Machines) == 0 && len(t.live.Virtual) == 0 && len(t.live.Sets) == 0 {
		return "", nil
	}
	if err := t.release(ctx); err != nil {
		return "", err
	}
	seen := t.live.Seen()
	left = fmt.Sprintf("%d machines are left", len(t.live.Machines))
	if causes := plan.Causes(seen.Machines, seen.Replicas); causes != "" {
		left += "; " + causes
	}
	return left, nil
}

// removeOwned deletes the object of a kind that has the pool's name, if it is the pool's.
func (t *turn) removeOwned(ctx context.Context, object *unstructured.Unstructured) error {
	err := t.Client.Get(ctx, client.ObjectKeyFromObject(t.pool), object)
	if err != nil || !object.GetDeletionTimestamp().IsZero() || !metav1.IsControlledBy(object, t.pool) {
		return wrap(client.IgnoreNotFound(err), "read %s %s", object.GetKind(), t.pool.Name)
	}
	uid := object.GetUID()
	err = t.Client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationForeground))
	return wrap(client.IgnoreNotFound(err), "delete %s %s", object.GetKind(), t.pool.Name)
}

// excluded are the annotations by which Cluster API neither drains a machine nor waits for its volumes.
var excluded = []string{"machine.cluster.x-k8s.io/exclude-node-draining", "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach"}

// release lets machines go that would wait for a cluster which is gone: they cannot be drained any more.
func (t *turn) release(ctx context.Context) error {
	gone, err := t.clusterGone(ctx)
	if err != nil || !gone {
		return err
	}
	for at := range t.live.Machines {
		machine := &t.live.Machines[at]
		if _, done := machine.GetAnnotations()[excluded[0]]; done {
			continue
		}
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{excluded[0]: "", excluded[1]: ""}}}
		if err := t.merge(ctx, machine.DeepCopy(), patch); err != nil {
			return fmt.Errorf("let Machine %s go: %w", machine.GetName(), err)
		}
	}
	return t.orphans(ctx)
}

// unanswered is how long a cluster that does not answer keeps the machines of a pool that is being deleted.
const unanswered = 2 * time.Minute

// clusterGone says whether the pool's cluster is gone for good, or going, or does not answer for a while.
func (t *turn) clusterGone(ctx context.Context) (bool, error) {
	cluster := &api.TalosCluster{}
	err := t.Client.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: string(t.pool.Spec.ClusterName)}, cluster)
	if apierrors.IsNotFound(err) || err == nil && !cluster.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if err != nil || t.Tenants == nil {
		return false, wrap(err, "read TalosCluster %s", t.pool.Spec.ClusterName)
	}
	reach, err := t.Tenants.Client(ctx, cluster)
	if err == nil {
		err = reach.Get(ctx, client.ObjectKey{Name: metav1.NamespaceDefault}, &corev1.Namespace{})
	}
	return err != nil && t.Now().Sub(t.pool.DeletionTimestamp.Time) > unanswered, nil
}

// orphans ends machines whose Cluster object is gone. Cluster API looks at them no more, so that they would stay for ever: the
// virtual machines are deleted, and then nothing has to be waited for.
func (t *turn) orphans(ctx context.Context) error {
	err := t.Client.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: string(t.pool.Spec.ClusterName)}, empty(virtual.ClusterKind))
	if !apierrors.IsNotFound(err) {
		return wrap(err, "read Cluster %s", t.pool.Spec.ClusterName)
	}
	for at := range t.live.Virtual {
		if err := t.delete(ctx, &t.live.Virtual[at]); err != nil {
			return err
		}
	}
	if len(t.live.Virtual) > 0 {
		return nil
	}
	held := slices.Concat(t.live.Machines, t.live.Sets)
	if t.live.Deployment != nil {
		held = append(held, *t.live.Deployment)
	}
	for at := range held {
		if err := t.delete(ctx, &held[at]); err != nil {
			return err
		}
		patch := map[string]any{"metadata": map[string]any{"finalizers": nil}}
		if err := t.merge(ctx, held[at].DeepCopy(), patch); err != nil {
			return fmt.Errorf("let %s %s go: %w", held[at].GetKind(), held[at].GetName(), err)
		}
	}
	return nil
}

// removeRest removes what the machines were made from.
func (t *turn) removeRest(ctx context.Context) error {
	secrets, err := t.secretsOf(ctx, t.pool)
	if err != nil {
		return err
	}
	all := secrets
	if t.pool.Spec.Machine.KubeVirt != nil && len(t.missing) == 0 {
		has, err := t.inventory(ctx, t.pool)
		if err != nil {
			return err
		}
		all = slices.Concat(has.templates, has.bootstraps, has.trusts, secrets)
	}
	return t.deleteAll(ctx, all)
}
