// SPDX-License-Identifier: Apache-2.0

package direct_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/direct"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/plan/machines"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// blind is a cache that shows no machines yet, and an API server whose answers to some creations are lost.
type blind struct {
	client.Client
	lose int
}

// errLost is an answer that never came.
var errLost = errors.New("no answer came")

// List shows nothing.
func (b *blind) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// Create does it, and may not say so.
func (b *blind) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if err := b.Client.Create(ctx, object, options...); err != nil || b.lose == 0 {
		return err
	}
	b.lose--
	return errLost
}

// wantedOf declares a pool and says what is wanted of it.
func wantedOf(t *testing.T, replicas int32) pool.Wanted {
	t.Helper()
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "workers"}, Spec: api.NodePoolSpec{
		ClusterName: "shop", Role: "plain", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "here"}, Replicas: &replicas,
		Machine: api.Machine{Sim: &api.SimMachine{}},
	}}
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	shop := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop", UID: "shop-uid"}}
	t.Cleanup(func() { release(t, namespace) })
	return pool.Wanted{
		Cluster: shop, Pool: object, Replicas: replicas, Revision: "workers-one", Rolls: "one", Budget: plan.Budget{Surge: intstr.FromInt32(1)},
	}
}

// list returns the machines of a namespace.
func list(t *testing.T, namespace string) []api.TalosMachine {
	t.Helper()
	var all api.TalosMachineList
	if err := kubetest.Client(t).List(context.Background(), &all, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

// release lets machines go, which nobody looks after here.
func release(t *testing.T, namespace string) {
	all := list(t, namespace)
	for at := range all {
		_ = kubetest.Client(t).Patch(context.Background(), &all[at], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
}

// TestNothingTwice makes machines with a cache that never shows them and with answers that are lost: as many as wanted, and no more.
func TestNothingTwice(t *testing.T) {
	wanted := wantedOf(t, 3)
	all := &direct.Machines{Client: &blind{kubetest.Client(t), 2}, Truth: kubetest.Client(t)}
	var lost int
	for range 6 {
		if _, err := all.Reconcile(t.Context(), wanted); errors.Is(err, errLost) {
			lost++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	found := list(t, wanted.Pool.Namespace)
	if len(found) != 3 || lost != 2 {
		t.Errorf("%d machines after %d lost answers, want 3 after 2", len(found), lost)
	}
	for _, one := range found {
		if !strings.HasPrefix(one.Name, "workers-") || one.Annotations[machines.AnnotationWanted] == "" || one.Spec.Revision != "workers-one" {
			t.Errorf("%s: %+v", one.Name, one.Spec)
		}
	}
}

// TestSeenAndDeleted says what is seen, holds back while the cluster does not answer, and deletes all with the pool.
func TestSeenAndDeleted(t *testing.T) {
	wanted := wantedOf(t, 2)
	all := &direct.Machines{Client: kubetest.Client(t), Truth: kubetest.Client(t)}
	for range 2 {
		if _, err := all.Reconcile(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
	}
	down := wanted
	down.Replicas, down.Cluster = 5, wanted.Cluster.DeepCopy()
	down.Cluster.Status.Conditions = []metav1.Condition{{Type: api.ConditionControlPlaneReady, Status: metav1.ConditionFalse, Message: "it does not answer"}}
	seen, err := all.Reconcile(t.Context(), down)
	if err != nil || seen.Replicas != 2 || seen.UpToDate != 2 || seen.Ready != 0 || seen.Desired != 5 || len(seen.Machines) != 3 {
		t.Errorf("%+v, %v", seen, err)
	}
	if !strings.Contains(seen.Machines[0].Why, "it does not answer") {
		t.Errorf("nobody says why nothing is done: %+v", seen.Machines[0])
	}
	if found := list(t, wanted.Pool.Namespace); len(found) != 2 {
		t.Errorf("%d machines, want 2", len(found))
	}
	for range 2 {
		if left, err := all.Delete(t.Context(), wanted.Pool); err != nil || left != 2 {
			t.Errorf("%d are left, %v", left, err)
		}
	}
	release(t, wanted.Pool.Namespace)
	if left, err := all.Delete(t.Context(), wanted.Pool); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}

// TestKept marks a machine that failed, and makes another beside it.
func TestKept(t *testing.T) {
	wanted := wantedOf(t, 1)
	wanted.Pool.Spec.Health = &api.Health{Failed: api.FailedKeep}
	all := &direct.Machines{Client: kubetest.Client(t), Truth: kubetest.Client(t)}
	if _, err := all.Reconcile(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	one := list(t, wanted.Pool.Namespace)[0]
	one.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionInstanceReady, Status: metav1.ConditionFalse, Reason: api.ReasonFailed, Message: "the host broke", LastTransitionTime: metav1.Now(),
	}}
	if err := kubetest.Client(t).Status().Update(t.Context(), &one); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := all.Reconcile(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	found := list(t, wanted.Pool.Namespace)
	for _, machine := range found {
		if machine.Annotations[machines.AnnotationKept] == "the host broke" && machine.DeletionTimestamp.IsZero() {
			kept++
		}
	}
	if len(found) != 2 || kept != 1 {
		t.Errorf("%d machines of which %d are kept, want 2 and 1", len(found), kept)
	}
}

// TestTwoAtOnce has two operators that see none of what the other makes: they make the same machines, and not twice as many. What was
// used up is not given again.
func TestTwoAtOnce(t *testing.T) {
	wanted := wantedOf(t, 2)
	c := kubetest.Client(t)
	unseeing := &blind{Client: c}
	for range 2 {
		other := wanted
		other.Pool = wanted.Pool.DeepCopy() // as it was read before the first made anything
		if _, err := (&direct.Machines{Client: unseeing, Truth: unseeing}).Reconcile(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
	first := list(t, wanted.Pool.Namespace)
	if len(first) != 2 {
		t.Fatalf("%d machines, want 2", len(first))
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(wanted.Pool), wanted.Pool); err != nil {
		t.Fatal(err)
	}
	if named := wanted.Pool.Annotations[machines.AnnotationNamed]; named != "2" {
		t.Errorf("%q names are remembered, want 2", named)
	}
	if _, err := (&direct.Machines{Client: unseeing, Truth: unseeing}).Reconcile(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	if all := list(t, wanted.Pool.Namespace); len(all) != 4 {
		t.Errorf("%d machines after those were not seen any more, want 4: a name was given again", len(all))
	}
}
