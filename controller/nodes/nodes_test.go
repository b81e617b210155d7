// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/nodes"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	kubetest.Main(m)
}

// late is a cache that does not show machines yet.
type late struct{ client.Client }

// List shows none.
func (l late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, of := list.(*api.TalosMachineList); of {
		return nil
	}
	return l.Client.List(ctx, list, options...)
}

// truth counts what it is asked for.
type truth struct {
	client.Reader
	gets, lists int
}

// Get counts.
func (t *truth) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	t.gets++
	return t.Reader.Get(ctx, key, object, options...)
}

// List counts.
func (t *truth) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	t.lists++
	return t.Reader.List(ctx, list, options...)
}

// forgetful is a place that knows of no instance but one, which is old.
type forgetful struct {
	backend.Place
	old     string
	deleted []string
}

// Get knows none.
func (f *forgetful) Get(context.Context, backend.Owner, string) (backend.Instance, error) {
	return backend.Instance{}, &backend.Error{Reason: backend.Gone}
}

// List knows the old one.
func (f *forgetful) List(context.Context, backend.Owner) ([]backend.Instance, error) {
	return []backend.Instance{{ID: "i-" + f.old, Name: f.old, Created: time.Now().Add(-time.Hour), State: backend.Running}}, nil
}

// Delete remembers.
func (f *forgetful) Delete(_ context.Context, _ backend.Owner, id string) error {
	f.deleted = append(f.deleted, id)
	return nil
}

// TestRemovesOnTruth has a Node and an instance whose machine the cache does not show yet: they stay, because the API server is
// asked before anything is removed, and go when it says too that there is no machine. When nothing is to be removed it is not asked.
func TestRemovesOnTruth(t *testing.T) {
	c, ctx, namespace := kubetest.Client(t), t.Context(), kubetest.Namespace(t)
	access, err := os.ReadFile(kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}, Spec: api.TalosClusterSpec{
		KubernetesVersion: "v1.36.3", TalosVersion: "v1.13.9", Endpoint: &api.Endpoint{Host: "shop.example.com", Port: 6443},
		ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "value"}}},
	}}
	here := api.LocationReference{Kind: api.KindLocation, Name: "here"}
	claims := &api.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "burst-1", Labels: names.Labels("shop", "burst")}, Spec: api.TalosMachineSpec{
		ClusterName: "shop", PoolName: "burst", LocationRef: here, Revision: "burst-abc",
	}}
	none := int32(0)
	for _, object := range []client.Object{
		cluster, claims,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}, Data: map[string][]byte{"value": access}},
		&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "here"}, Spec: api.LocationSpec{Sim: &api.SimLocation{}}},
		&api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "burst"}, Spec: api.NodePoolSpec{
			ClusterName: "shop", Role: "plain", LocationRef: here, Replicas: &none, Machine: api.Machine{Sim: &api.SimMachine{}},
		}},
	} {
		if err := c.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "burst-1", Annotations: map[string]string{
		machines.AnnotationInstance: "i-1", machines.AnnotationLocation: "Location/here", machines.AnnotationCluster: string(cluster.UID),
	}}}
	if err := c.Create(ctx, node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.IgnoreNotFound(c.Delete(context.Background(), node)) })

	place, asked := &forgetful{old: "burst-1"}, &truth{Reader: c}
	controller := func(cache client.Client) *nodes.Controller {
		places := machine.Places{api.MemberSim: func(context.Context, machine.Location) (backend.Place, error) { return place, nil }}
		return &nodes.Controller{Client: cache, Truth: asked, Tenants: tenant.New(c), Places: places, Installation: "test"}
	}
	look := func(cache client.Client) (there bool) {
		t.Helper()
		if _, err := controller(cache).Reconcile(ctx, cluster); err != nil {
			t.Fatal(err)
		}
		err := c.Get(ctx, client.ObjectKeyFromObject(node), &corev1.Node{})
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return !apierrors.IsNotFound(err)
	}
	if !look(c) || asked.gets+asked.lists > 0 {
		t.Errorf("with all as it should be, the API server was asked %d times past the cache", asked.gets+asked.lists)
	}
	if !look(late{c}) || len(place.deleted) > 0 {
		t.Errorf("something was removed on the word of a cache that is late: %v", place.deleted)
	}
	if asked.gets != 2 || asked.lists != 0 {
		t.Errorf("the API server was asked %d times for one machine and %d times for all, want 2 and 0", asked.gets, asked.lists)
	}
	if err := c.Delete(ctx, claims); err != nil {
		t.Fatal(err)
	}
	if look(late{c}) {
		t.Error("the Node of a machine that is gone stays")
	}
	if diff := cmp.Diff([]string{"i-burst-1"}, place.deleted); diff != "" {
		t.Errorf("instances were removed otherwise (-want +got):\n%s", diff)
	}
}
