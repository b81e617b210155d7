// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
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
	if err := w.controller.Watch(source.Kind[client.Object](w.cache, object, handler.EnqueueRequestsFromMapFunc(ofSameName))); err != nil {
		return err
	}
	if w.started == nil {
		w.started = map[schema.GroupVersionKind]bool{}
	}
	w.started[kind] = true
	return nil
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

// ofSecret leads from a Secret to the clusters that read it: ours by its label, Kamaji's and those of external control planes by
// name.
func (r *Reconciler) ofSecret(ctx context.Context, secret client.Object) []reconcile.Request {
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
