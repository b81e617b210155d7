// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gathering is how long what happens to machines is gathered before their pool is looked at. A thousand machines that join take many
// small steps at about the same time, and a look at all of them for each would cost more than everything else that is done for them.
const gathering = 200 * time.Millisecond

// A queue is where looks wait for their turn.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// gathered has pools looked at a moment after something was told of: what is told in between is seen in the same look.
func gathered(told handler.MapFunc) handler.EventHandler {
	look := func(ctx context.Context, object client.Object, later queue) {
		for _, request := range told(ctx, object) {
			later.AddAfter(request, gathering)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, made event.CreateEvent, later queue) { look(ctx, made.Object, later) },
		UpdateFunc: func(ctx context.Context, changed event.UpdateEvent, later queue) {
			look(ctx, changed.ObjectOld, later) // which may have been another pool's
			look(ctx, changed.ObjectNew, later)
		},
		DeleteFunc:  func(ctx context.Context, gone event.DeleteEvent, later queue) { look(ctx, gone.Object, later) },
		GenericFunc: func(ctx context.Context, other event.GenericEvent, later queue) { look(ctx, other.Object, later) },
	}
}
