// SPDX-License-Identifier: Apache-2.0

package kubevirt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// wait wants machines to settle.
func (s *stage) wait(count int, template string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { return s.settled(ctx, count, template) })
}

// TestMachineDeployment takes three machines to Ready under Cluster API's own controllers, rolls them to another template and
// removes them; in between the double is killed and started again.
func TestMachineDeployment(t *testing.T) {
	s := newStage(t)
	s.wait(3, "workers-1")
	first, err := s.nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	s.stop() // the machines lose their power; their disks and objects stay
	s.start()
	kubetest.Eventually(t, within, func(ctx context.Context) error { return s.resumed(first) })
	s.wait(3, "workers-1")

	s.change(`{"spec":{"template":{"spec":{"bootstrap":{"dataSecretName":"workers-2"},"infrastructureRef":{"name":"workers-2"}}}}}`)
	s.wait(3, "workers-2")
	second, err := s.nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range second {
		if slices.Contains(first, name) {
			t.Errorf("node %s is still there", name)
		}
	}

	s.change(`{"spec":{"replicas":0}}`)
	s.wait(0, "workers-2")
	if left := s.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	s.misbehaves()
}

// misbehaves lets the place fail, and wants machines to come all the same, each once.
func (s *stage) misbehaves() {
	s.t.Helper()
	s.keeper.Set(conduct.Behaviour{Faults: []conduct.Fault{
		{Kind: conduct.Refuses, Calls: []conduct.Call{conduct.Delete}, Times: 2},
		{Kind: conduct.LosesAnswer, Times: 1},
	}})
	s.change(`{"spec":{"replicas":2}}`)
	s.wait(2, "workers-2")

	s.keeper.Set(conduct.Behaviour{Quota: 2})
	s.change(`{"spec":{"replicas":3}}`)
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { return s.says(ctx, "exceeded quota") })
	s.keeper.Set(conduct.Behaviour{})
	s.wait(3, "workers-2")

	nodes, err := s.nodes(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.double.Kill(s.namespace, nodes[0])
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { return s.says(ctx, "the virtual machine died") })
	s.double.Power(s.namespace, nodes[0])
	s.wait(3, "workers-2")
	s.change(`{"spec":{"replicas":0}}`)
	s.wait(0, "workers-2")
}

// says wants a machine that is not ready and says why.
func (s *stage) says(ctx context.Context, text string) error {
	machines, err := s.list(ctx, "infrastructure.cluster.x-k8s.io", "v1alpha1", "KubevirtMachine")
	if err != nil {
		return err
	}
	for _, machine := range machines {
		ready, _, _ := unstructured.NestedBool(machine.Object, "status", "ready")
		conditions, _, _ := unstructured.NestedSlice(machine.Object, "status", "conditions")
		if !ready && strings.Contains(fmt.Sprint(conditions), text) {
			return nil
		}
	}
	return fmt.Errorf("no machine says %q", text)
}

// resumed wants machines to run again that ran before, with the certificate that they had: none joined anew.
func (s *stage) resumed(names []string) error {
	for _, name := range names {
		found := s.double.Machine(s.namespace, name)
		if found == nil || !found.Status().Reached(machine.StepReady) {
			return fmt.Errorf("machine %s is not ready", name)
		}
		if boots := found.Status().Boots; boots != 2 {
			return fmt.Errorf("machine %s booted %d times", name, boots)
		}
	}
	return nil
}
