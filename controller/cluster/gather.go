// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gather is how long a cluster waits for more to happen before it is looked at. Pools come in groups, and each tells several times
// of what it made: one look serves all of them, and a look goes to the tenant's API server.
const gather = 250 * time.Millisecond

// gathered leads from an object to clusters, which are looked at a little later.
func gathered(lead handler.MapFunc) handler.EventHandler {
	now := handler.EnqueueRequestsFromMapFunc(lead)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[client.Object], q queue) {
			now.Create(ctx, e, later{q})
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
			now.Update(ctx, e, later{q})
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
			now.Delete(ctx, e, later{q})
		},
	}
}

// queue is what waits to be looked at.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// later is a queue to which everything is added a little later.
type later struct{ queue }

// Add adds it a little later. What waits already is not put off.
func (l later) Add(request reconcile.Request) { l.AddAfter(request, gather) }
