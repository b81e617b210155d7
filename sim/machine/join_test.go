// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// TestJoins lets a worker of every release join, with what Minos renders for it, and looks at its Node.
func TestJoins(t *testing.T) {
	for _, version := range []api.TalosVersion{"v1.12.7", "v1.13.9", "v1.14.1"} {
		t.Run(string(version), func(t *testing.T) {
			s := newSite(t, version)
			m := s.add(s.rack, machine.Options{UserData: s.configuration("plain", nil), Disk: machine.NewMemory(s.image("drbd", "spin"))})
			s.reaches(m, machine.StepReady)
			if stage := m.Status().Stage; stage != "running" {
				t.Errorf("its stage is %q", stage)
			}
			node := s.node(m)
			if got := conditionOf(node, corev1.NodeReady); got != corev1.ConditionTrue {
				t.Errorf("Ready is %q", got)
			}
			label := string(version)[1:]
			want := map[string]string{
				"example.com/shelf": "top", "extensions.talos.dev/drbd": label, "extensions.talos.dev/spin": label, corev1.LabelHostname: m.Name(),
			}
			for key, value := range want {
				if node.Labels[key] != value {
					t.Errorf("label %s is %q, want %q", key, node.Labels[key], value)
				}
			}
			if got := node.Annotations["extensions.talos.dev/schematic"]; got != schematic {
				t.Errorf("the schematic is %q", got)
			}
			if got := node.Status.NodeInfo.OSImage + " " + node.Status.NodeInfo.KubeletVersion; got != "Talos ("+string(version)+") "+kubernetes {
				t.Errorf("it is %s", got)
			}
			if diff := cmp.Diff(corev1.TaintEffectNoSchedule, taintOf(node, "example.com/new")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// conditionOf is the status of a Node's condition.
func conditionOf(node *corev1.Node, kind corev1.NodeConditionType) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == kind {
			return condition.Status
		}
	}
	return "missing"
}

// taintOf is the effect of a taint.
func taintOf(node *corev1.Node, key string) corev1.TaintEffect {
	for _, taint := range node.Spec.Taints {
		if taint.Key == key {
			return taint.Effect
		}
	}
	return "missing"
}

// TestKeepsItsLease expects renewals.
func TestKeepsItsLease(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Lease: 20 * time.Millisecond})
	m := s.add(rack, machine.Options{UserData: s.configuration("plain", nil)})
	s.reaches(m, machine.StepReady)
	renewed := func() time.Time {
		lease := &coordinationv1.Lease{}
		if err := kubetest.Client(t).Get(t.Context(), client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: m.Name()}, lease); err != nil {
			t.Fatal(err)
		}
		return lease.Spec.RenewTime.Time
	}
	for range 3 {
		before := renewed()
		kubetest.Eventually(t, within, func(context.Context) error {
			if now := renewed(); !now.After(before) {
				return fmt.Errorf("it was renewed at %s", now)
			}
			return nil
		})
	}
}
