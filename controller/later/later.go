// SPDX-License-Identifier: Apache-2.0

// Package later has objects looked at a moment after something happened, so that one look serves all that happens in between.
package later

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Gather is how long is waited for more to happen. Pools come in groups, and each tells several times of what it made; a thousand
// machines that join take many small steps at about the same time, and a look at all of them for each would cost more than everything
// else that is done for them.
const Gather = 250 * time.Millisecond

// Enqueue leads from an object to others, which are looked at a little later.
func Enqueue(lead handler.MapFunc) handler.EventHandler {
	now := handler.EnqueueRequestsFromMapFunc(lead)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[client.Object], q queue) {
			now.Create(ctx, e, delayed{q})
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
			now.Update(ctx, e, delayed{q})
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
			now.Delete(ctx, e, delayed{q})
		},
	}
}

// queue is what waits to be looked at.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// delayed is a queue to which everything is added a little later.
type delayed struct{ queue }

// Add adds it a little later. What waits already is not put off.
func (d delayed) Add(request reconcile.Request) { d.AddAfter(request, Gather) }
