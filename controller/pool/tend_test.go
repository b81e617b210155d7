// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/kubetest"
)

// begin brings a pool to so many machines.
func (s *stage) begin(declared string, count int32) {
	s.t.Helper()
	s.openCluster()
	s.apply(declaredLocation)
	s.apply(declared)
	s.activate("workers")
	s.wait(count)
}

// node reads a Node.
func (s *stage) node(ctx context.Context, name string) (*corev1.Node, error) {
	return s.tenant.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
}

// TestTended takes machines of Cluster API through what happens to them: their host is emptied, and one of them fails.
func TestTended(t *testing.T) {
	s := newStage(t)
	s.begin(declaredPool, 2)
	names := s.machines()
	s.drained(names[0], func() { s.marked(names[0]) })
	s.drained(names[1], func() {}) // shorter than a look
	s.cordonedByHand(names[0])
	s.kept(names[0])
	s.deletes()
}

// marked waits until it is written down that a machine's Node is drained.
func (s *stage) marked(name string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		machine, err := s.machine(ctx, name)
		if err == nil && !strings.Contains(machine.GetAnnotations()[virtual.AnnotationDrained], " ") {
			err = fmt.Errorf("Machine %s has %v", name, machine.GetAnnotations())
		}
		return err
	})
}

// machine reads one of Cluster API's.
func (s *stage) machine(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	machine := &unstructured.Unstructured{}
	machine.SetGroupVersionKind(virtual.MachineKind)
	return machine, kubetest.Client(s.t).Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, machine)
}

// drained empties the host of a machine, and wants its Node to take pods again only when the machine has started anew.
func (s *stage) drained(name string, meanwhile func()) {
	s.t.Helper()
	before := s.steady(name)
	if err := s.double.Evict(s.t.Context(), s.namespace, name); err != nil {
		s.t.Fatal(err)
	}
	meanwhile()
	if cordoned, err := s.node(s.t.Context(), name); err != nil || !cordoned.Spec.Unschedulable {
		s.t.Errorf("Node %s takes pods while it is drained: %v", name, err)
	}
	if err := s.double.Move(s.t.Context(), s.namespace, name); err != nil {
		s.t.Fatal(err)
	}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		again := node.Status.NodeInfo.BootID != before.Status.NodeInfo.BootID
		if !node.Spec.Unschedulable && !again {
			s.t.Errorf("Node %s takes pods before it has started anew", name)
		}
		if node.Spec.Unschedulable || !again {
			return fmt.Errorf("cordoned %v, started anew %v, written by %v", node.Spec.Unschedulable, again, node.ManagedFields)
		}
		return s.forgotten(ctx, name)
	})
	s.quiet()
}

// steady waits until a Node has worked for more than a second: times in the API are whole seconds, and what began to work in the
// second of a drain cannot be told from what began to work after it.
func (s *stage) steady(name string) *corev1.Node {
	s.t.Helper()
	var node *corev1.Node
	kubetest.Eventually(s.t, within, func(ctx context.Context) (err error) {
		if node, err = s.node(ctx, name); err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && time.Since(condition.LastTransitionTime.Time) > time.Second {
				return nil
			}
		}
		return fmt.Errorf("Node %s has %v", name, node.Status.Conditions)
	})
	return node
}

// quiet wants a look at the pool that writes nothing, as soon as what was done before has been told of.
func (s *stage) quiet() {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(context.Context) error {
		if wrote := s.again(); len(wrote) > 0 {
			return fmt.Errorf("a pass wrote: %v", wrote)
		}
		return nil
	})
}

// forgotten wants nothing to be written down of a drain.
func (s *stage) forgotten(ctx context.Context, name string) error {
	machine, err := s.machine(ctx, name)
	if mark, found := machine.GetAnnotations()[virtual.AnnotationDrained]; err == nil && found {
		err = fmt.Errorf("Machine %s still has %s", name, mark)
	}
	return err
}

// cordonedByHand has a person cordon a Node before its host is emptied, and wants it to stay so until that person uncordons it.
func (s *stage) cordonedByHand(name string) {
	s.t.Helper()
	hand := func(text string) {
		s.t.Helper()
		_, err := s.tenant.CoreV1().Nodes().Patch(s.t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{FieldManager: "kubectl-cordon"})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	hand(`{"spec":{"unschedulable":true}}`)
	if err := s.double.Evict(s.t.Context(), s.namespace, name); err != nil {
		s.t.Fatal(err)
	}
	s.marked(name)
	if err := s.double.Move(s.t.Context(), s.namespace, name); err != nil {
		s.t.Fatal(err)
	}
	s.says("workers", api.ConditionMachinesReady, api.ReasonReady, "stays cordoned, because kubectl-cordon cordoned it: run kubectl uncordon "+name)
	if node, err := s.node(s.t.Context(), name); err != nil || !node.Spec.Unschedulable {
		s.t.Errorf("a cordon of a person was undone: %v", err)
	}
	s.quiet()
	hand(`{"spec":{"unschedulable":null}}`)
	s.again()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		return errors.Join(s.forgotten(ctx, name), s.settled(ctx, 2))
	})
}

// kept has a machine fail in a pool that keeps such, and wants another to be made beside it.
func (s *stage) kept(name string) {
	s.t.Helper()
	s.patch(`{"spec":{"health":{"failed":"Keep"}}}`)
	s.wait(2)
	s.fail(name)
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { return s.settled(ctx, 2) })
	s.says("workers", api.ConditionMachinesReady, api.ReasonReady, "Machine "+name+" failed and is kept for study until somebody deletes it")
	machine, err := s.machine(s.t.Context(), name)
	if err != nil || !machine.GetDeletionTimestamp().IsZero() || machine.GetAnnotations()[machines.AnnotationKept] == "" {
		s.t.Fatalf("the failed machine is %v, %v", machine.GetAnnotations(), err)
	}
	if s.double.Machine(s.namespace, name) == nil {
		s.t.Error("the virtual machine of the failed machine is gone")
	}
	s.quiet()
	second := s.other(name)
	s.fail(second) // the budget of two machines is one: now failed machines are replaced
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		if _, err := s.machine(ctx, second); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the second failed machine is there: %w", err)
		}
		return s.settled(ctx, 2)
	})
	if _, err := s.machine(s.t.Context(), name); err != nil {
		s.t.Errorf("the kept machine: %v", err)
	}
}

// other is a machine of the pool that is not kept.
func (s *stage) other(than string) string {
	s.t.Helper()
	for _, name := range s.machines() {
		if name != than {
			return name
		}
	}
	s.t.Fatal("there is no other machine")
	return ""
}

// fail has a machine die for good: without power, and its Node is gone, which Cluster API notices at once.
func (s *stage) fail(name string) {
	s.t.Helper()
	s.double.Kill(s.namespace, name)
	if err := s.tenant.CoreV1().Nodes().Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}
