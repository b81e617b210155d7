// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconcileCluster says that a KubevirtCluster is there as soon as it has an address. One that somebody else looks after, as
// Kamaji does, is left to them. The load balancer of the real provider is not simulated.
func (d *Double) reconcileCluster(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := kind(clusterKind)
	if err := d.client.Get(ctx, request.NamespacedName, cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	_, managed := cluster.GetAnnotations()["cluster.x-k8s.io/managed-by"]
	if managed || yes(cluster, "status", "ready") || text(cluster, "spec", "controlPlaneEndpoint", "host") == "" {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(d.client.Status().Patch(ctx, cluster, merge(map[string]any{"status": map[string]any{"ready": true}})))
}
