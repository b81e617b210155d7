// SPDX-License-Identifier: Apache-2.0

package later_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/later"
)

// poolOf leads from a machine to its pool.
func poolOf(_ context.Context, object client.Object) []reconcile.Request {
	machine, _ := object.(*api.TalosMachine)
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: machine.Namespace, Name: string(machine.Spec.PoolName)}}}
}

// TestEnqueue tells of a hundred machines that change, one of which moves to another pool, and wants one look at each pool, a moment
// later. Its time is not real.
func TestEnqueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer looks.ShutDown()
		tell := later.Enqueue(poolOf)
		machine := &api.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: api.TalosMachineSpec{PoolName: "web"}}
		moved := machine.DeepCopy()
		moved.Spec.PoolName = "burst"
		for range 100 {
			tell.Update(t.Context(), event.UpdateEvent{ObjectOld: machine, ObjectNew: machine}, looks)
		}
		tell.Update(t.Context(), event.UpdateEvent{ObjectOld: machine, ObjectNew: moved}, looks)
		<-time.After(later.Gather - 1)
		synctest.Wait()
		if looks.Len() != 0 {
			t.Errorf("%d looks too early", looks.Len())
		}
		<-time.After(1)
		synctest.Wait()
		seen := map[string]bool{}
		for looks.Len() > 0 {
			request, _ := looks.Get()
			seen[request.String()] = true
			looks.Done(request)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if len(seen) != 2 || !seen["shop/web"] || !seen["shop/burst"] || looks.Len() != 0 {
			t.Errorf("looked at %v, and %d more wait", seen, looks.Len())
		}
	})
}
