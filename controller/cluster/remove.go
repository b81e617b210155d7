// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// remove goes as far with the deletion of a cluster as it can go now.
func (t *turn) remove(ctx context.Context) (reconcile.Result, error) {
	left, err := t.remains(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	step := hosted.Remove(t.cluster, left, t.now)
	if step.Tokens {
		left.Tokens = false
		if err := t.withdrawAll(ctx); err != nil {
			left.Tokens, left.TokensError = true, steady(err)
			t.report.Conditions = append(t.report.Conditions, hosted.No(api.ConditionTenantReady, api.ReasonUnreadable, steady(err)))
		}
		if step = hosted.Remove(t.cluster, left, t.now); step.Tokens {
			return t.later(ctx, step) // it is tried again, for a while
		}
	}
	if err := t.deleteAll(ctx, step); err != nil {
		return reconcile.Result{}, err
	}
	if len(left.Parts) > 0 {
		return t.later(ctx, step)
	}
	before := t.cluster.DeepCopy()
	controllerutil.RemoveFinalizer(t.cluster, names.Finalizer)
	err = t.Client.Patch(ctx, t.cluster, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(names.Owner))
	if err == nil {
		t.Tenants.Forget(t.cluster)
		t.announce(hosted.Moment{Reason: momentDeleted, Message: gone(step, left)})
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// later says how far a deletion is, and comes back.
func (t *turn) later(ctx context.Context, step hosted.Removal) (reconcile.Result, error) {
	t.report.Conditions = append(t.report.Conditions, step.Condition)
	return reconcile.Result{RequeueAfter: t.every()}, t.tell(ctx)
}

// remains are what is left of the cluster.
func (t *turn) remains(ctx context.Context) (hosted.Remains, error) {
	left := hosted.Remains{Tokens: t.cluster.Spec.ControlPlane.External != nil}
	if t.cluster.Spec.ControlPlane.Kamaji != nil {
		for _, kind := range hosted.Kinds() {
			object, err := t.part(ctx, kind)
			if err != nil {
				return left, err
			}
			if object == nil || !labels.SelectorFromSet(names.Labels(t.cluster.Name, "")).Matches(labels.Set(object.GetLabels())) {
				continue // what bears the name and not our labels is somebody else's
			}
			part := hosted.Part{Kind: kind}
			if since := object.GetDeletionTimestamp(); since != nil {
				part.Deleting = since.Time
			}
			left.Parts = append(left.Parts, part)
		}
	}
	var secrets corev1.SecretList
	err := t.Client.List(ctx, &secrets, client.InNamespace(t.cluster.Namespace), client.MatchingLabels(names.Labels(t.cluster.Name, "")))
	for _, secret := range secrets.Items {
		if metav1.IsControlledBy(&secret, t.cluster) {
			left.Secrets = append(left.Secrets, secret.Name)
		}
	}
	return left, err
}

// withdrawAll removes our bootstrap tokens from an API server that stays.
func (t *turn) withdrawAll(ctx context.Context) error {
	inside, err := t.Tenants.Client(ctx, t.cluster)
	if err != nil {
		return err
	}
	live, err := invited(ctx, inside, t.cluster)
	if err != nil {
		return reach(err)
	}
	var tokens []string
	for _, secret := range live {
		tokens = append(tokens, secret.Name)
	}
	return withdraw(ctx, inside, tokens)
}

// deleteAll deletes what a step says.
func (t *turn) deleteAll(ctx context.Context, step hosted.Removal) error {
	for _, kind := range step.Parts {
		object, err := t.part(ctx, kind)
		if err != nil {
			return err
		}
		if object == nil {
			continue
		}
		if err := client.IgnoreNotFound(t.Client.Delete(ctx, object)); err != nil {
			return err
		}
	}
	for _, name := range step.Secrets {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.cluster.Namespace, Name: name}}
		if err := client.IgnoreNotFound(t.Client.Delete(ctx, secret)); err != nil {
			return err
		}
	}
	return nil
}
