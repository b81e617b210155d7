// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// testPoolBecomesReady takes three machines through all steps, against a signer and an API server that are real.
func testPoolBecomesReady(t *testing.T) {
	w := newWorld(t, options{replicas: 3, surge: 1})
	w.run()
	w.eventually(w.ready(3))
	all, err := w.machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		var steps []string
		for _, condition := range one.Status.Conditions {
			if condition.Status != metav1.ConditionTrue {
				t.Errorf("%s: %s is %s", one.Name, condition.Type, condition.Status)
			}
			steps = append(steps, condition.Type)
		}
		if diff := cmp.Diff(append([]string(api.TalosMachineReady), api.ConditionReady), steps); diff != "" {
			t.Errorf("%s: the steps are not in order: %s", one.Name, diff)
		}
		checkStatus(t, w, one)
		checkNode(t, w, one)
	}
	w.wantJoins(3)
	w.kill()
	w.run() // which counts and tells nothing again
	w.addReplica()
	w.eventually(w.ready(4))
	w.wantJoins(4)
}

// addReplica wants one machine more.
func (w *world) addReplica() {
	w.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *w.pool.Spec.Replicas+1)
	if err := w.client.Patch(w.t.Context(), w.pool.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
		w.t.Fatal(err)
	}
}

// checkStatus wants what the place, Talos and the Node say in the status.
func checkStatus(t *testing.T, w *world, one api.TalosMachine) {
	t.Helper()
	status := one.Status
	if status.ProviderID == "" || len(status.Addresses) != 1 || status.NodeName != one.Name || status.Revision != w.revision ||
		status.TalosVersion != version || status.Schematic != w.image.Schematic || status.BootID == "" {
		t.Errorf("%s: something is missing: %+v", one.Name, status)
	}
	if len(one.Finalizers) != 1 || one.Finalizers[0] != names.Finalizer || one.Labels[names.LabelPool] != w.pool.Name || !metav1.IsControlledBy(&one, w.pool) {
		t.Errorf("%s: finalizers %v, labels %v, owners %v", one.Name, one.Finalizers, one.Labels, one.OwnerReferences)
	}
}

// checkNode wants on the Node what its kubelet may not set.
func checkNode(t *testing.T, w *world, one api.TalosMachine) {
	t.Helper()
	var node corev1.Node
	if err := w.nodes.Get(t.Context(), client.ObjectKey{Name: one.Name}, &node); err != nil {
		t.Fatal(err)
	}
	_, role := node.Labels["node-role.kubernetes.io/plain"]
	if node.Spec.ProviderID != one.Status.ProviderID || !role || node.Labels[corev1.LabelTopologyZone] != "zone-1" {
		t.Errorf("Node %s: provider ID %s, labels %v", node.Name, node.Spec.ProviderID, node.Labels)
	}
}
