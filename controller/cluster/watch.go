// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// watches are those of others' kinds, which may come after the operator has started. Without a controller there are none.
type watches struct {
	controller controller.Controller
	cache      cache.Cache

	mutex   sync.Mutex
	started map[schema.GroupVersionKind]bool
}

// ensure watches a kind from now on.
func (w *watches) ensure(kind schema.GroupVersionKind) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.controller == nil || w.started[kind] {
		return nil
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := w.controller.Watch(source.Kind[client.Object](w.cache, object, handler.EnqueueRequestsFromMapFunc(ofSameName), said(kind))); err != nil {
		return err
	}
	if w.started == nil {
		w.started = map[schema.GroupVersionKind]bool{}
	}
	w.started[kind] = true
	return w.leave(kind)
}

// leave ends the watches of other versions of a kind, which may not be served any more.
func (w *watches) leave(kept schema.GroupVersionKind) error {
	for kind := range w.started {
		if kind.GroupKind() != kept.GroupKind() || kind == kept {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		if err := w.cache.RemoveInformer(context.Background(), object); err != nil {
			return err
		}
		delete(w.started, kind)
	}
	return nil
}

// said is which changes of a kind are looked at. Of a control plane all are; of what else there is only what is declared is read,
// and Cluster API says much of its Clusters.
func said(kind schema.GroupVersionKind) predicate.Predicate {
	if kind.GroupKind() == hosted.ControlPlaneKind.Kind {
		return predicate.Funcs{}
	}
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}

// ofSameName leads from an object to the cluster of its name.
func ofSameName(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
}

// ofPool leads from a pool to the cluster that it names.
func ofPool(_ context.Context, object client.Object) []reconcile.Request {
	pool, ok := object.(*api.NodePool)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pool.Namespace, Name: string(pool.Spec.ClusterName)}}}
}

// matters says whether a cluster says something else because of what changed of a pool. A pool says much while it comes to life
// that is of no interest to its cluster, and a look at a cluster is dear: it goes to the tenant's API server.
func matters(change event.UpdateEvent) bool {
	before, was := change.ObjectOld.(*api.NodePool)
	after, is := change.ObjectNew.(*api.NodePool)
	if !was || !is {
		return true
	}
	return before.UID != after.UID || before.Generation != after.Generation || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		meta.IsStatusConditionTrue(before.Status.Conditions, api.ConditionReady) != meta.IsStatusConditionTrue(after.Status.Conditions, api.ConditionReady) ||
		!equality.Semantic.DeepEqual(before.Status.Replicas, after.Status.Replicas) ||
		!equality.Semantic.DeepEqual(before.Status.ReadyReplicas, after.Status.ReadyReplicas)
}

// ofSecret leads from a Secret to the clusters that read it: ours by its label, Kamaji's and those of external control planes by
// name. The configurations of machines are for machines only.
func (r *Reconciler) ofSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	if secret.GetLabels()[names.LabelPurpose] == names.PurposeConfiguration {
		return nil
	}
	var clusters api.TalosClusterList
	if err := r.Client.List(ctx, &clusters, client.InNamespace(secret.GetNamespace())); err != nil {
		return nil // they are looked at again soon enough
	}
	var found []reconcile.Request
	for at := range clusters.Items {
		cluster := &clusters.Items[at]
		kubeconfig, _ := tenant.Kubeconfig(cluster)
		switch {
		case secret.GetLabels()[names.LabelCluster] == cluster.Name,
			secret.GetName() == kubeconfig, secret.GetName() == names.KubernetesCA(cluster):
			found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cluster)})
		}
	}
	return found
}
