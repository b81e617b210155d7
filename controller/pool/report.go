// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
)

// again is when to look again at what nothing tells about.
const again = time.Minute

// report writes the status, if it changed, and says what happens next.
func (t *turn) report(ctx context.Context, failed error) (reconcile.Result, error) {
	before := t.pool.DeepCopy()
	t.status()
	if err := t.writeStatus(ctx, before); err != nil {
		return reconcile.Result{}, err
	}
	t.measure()
	if failed != nil {
		return reconcile.Result{}, failed
	}
	if len(t.missing) > 0 {
		t.next = again
	}
	return reconcile.Result{RequeueAfter: t.next}, nil
}

// writeStatus writes it if it changed, and tells of conditions that stopped to hold.
func (t *turn) writeStatus(ctx context.Context, before *api.NodePool) error {
	if apiequality.Semantic.DeepEqual(before.Status, t.pool.Status) {
		return nil
	}
	if err := t.Client.Status().Patch(ctx, t.pool, t.change(before)); err != nil {
		return wrap(client.IgnoreNotFound(err), "write the status")
	}
	t.rolled(before)
	for _, condition := range t.pool.Status.Conditions {
		old := meta.FindStatusCondition(before.Status.Conditions, condition.Type)
		if condition.Type == api.ConditionReady || old != nil && old.Status == condition.Status && old.Reason == condition.Reason {
			continue
		}
		switch {
		case condition.Status == metav1.ConditionTrue || condition.Reason == api.ReasonProgressing:
		case condition.Reason == api.ReasonWaiting:
			t.event(corev1.EventTypeNormal, condition.Reason, condition.Type+": "+condition.Message)
		default:
			t.event(corev1.EventTypeWarning, condition.Reason, condition.Type+": "+condition.Message)
		}
	}
	return nil
}

// status is what was found out.
func (t *turn) status() {
	status := &t.pool.Status
	status.ObservedGeneration = t.pool.Generation
	status.Selector = labels.Set(names.Labels(string(t.pool.Spec.ClusterName), t.pool.Name)).String()
	if t.wanted.Revision != "" {
		status.Revision = strings.TrimPrefix(t.wanted.Revision, t.pool.Name+"-")
		status.TalosVersion, status.KubernetesVersion = t.cluster.Spec.TalosVersion, t.cluster.Spec.KubernetesVersion
		status.Schematic = t.wanted.Image.Schematic
	}
	if t.objects.Template != nil {
		status.Capacity = t.objects.Capacity
	}
	if seen := t.seen; seen != nil {
		status.DesiredReplicas, status.Replicas = &seen.Desired, &seen.Replicas
		status.ReadyReplicas, status.UpToDateReplicas = &seen.Ready, &seen.UpToDate
	}
	for _, condition := range plan.Conditions(status.Conditions, t.conditions, t.pool.Generation) {
		meta.SetStatusCondition(&status.Conditions, condition)
	}
}

// event tells what happens to the pool.
func (t *turn) event(kind, reason, message string) {
	if t.Events != nil {
		t.Events.Eventf(t.pool, nil, kind, reason, reason, "%s", message)
	}
}
