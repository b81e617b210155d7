// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/nodes"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/talos/config"
)

// TestNodesOfVirtualMachines has Nodes that registered when nobody could see it: Cluster API removed their machines without them. A
// Node goes when its virtual machine is gone, it does not work, and it was born of this cluster.
func TestNodesOfVirtualMachines(t *testing.T) {
	kubetest.InstallModule(t, crds.KubeVirt, "")
	c, ctx, namespace := kubetest.Client(t), t.Context(), kubetest.Namespace(t)
	access, err := os.ReadFile(kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}, Spec: api.TalosClusterSpec{
		KubernetesVersion: "v1.36.3", TalosVersion: "v1.13.9", Endpoint: &api.Endpoint{Host: "shop.example.com", Port: 6443},
		ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "value"}}},
	}}
	runs := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"virtualMachineTemplate": map[string]any{"spec": map[string]any{
		"template": map[string]any{"spec": map[string]any{"domain": map[string]any{"devices": map[string]any{}}}},
	}}}}}
	runs.SetGroupVersionKind(virtual.VirtualMachineKind)
	runs.SetNamespace(namespace)
	runs.SetName("runs")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}, Data: map[string][]byte{"value": access}}
	for _, object := range []client.Object{cluster, runs, secret} {
		if err := c.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	born := map[string]string{config.BirthLabel: string(cluster.UID)}
	stays := map[string]bool{"runs": true, "left": false, "alive": true, "of-another": true, "of-nobody": true}
	for name := range stays {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: born}}
		switch name {
		case "alive":
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		case "of-another":
			node.Labels = map[string]string{config.BirthLabel: "another"}
		case "of-nobody":
			node.Labels = nil
		}
		if err := c.Create(ctx, node.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if err := c.Status().Patch(ctx, node, client.Merge); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.IgnoreNotFound(c.Delete(context.Background(), node)) })
	}
	controller := &nodes.Controller{Client: c, Truth: c, Tenants: tenant.New(c), Installation: "test"}
	if _, err := controller.Reconcile(ctx, cluster); err != nil {
		t.Fatal(err)
	}
	for name, want := range stays {
		err := c.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{})
		if client.IgnoreNotFound(err) != nil || apierrors.IsNotFound(err) == want {
			t.Errorf("Node %s: %v, and it should stay: %v", name, err, want)
		}
	}
}
