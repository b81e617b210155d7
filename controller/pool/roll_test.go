// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/preview"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/kubetest"
)

// rolls changes a pool in many ways, and wants just those machines to be replaced that were foretold, one by one.
func (s *stage) rolls() {
	s.t.Helper()
	s.patch(`{"spec":{"replicas":2}}`)
	s.wait(2)
	for _, change := range []struct {
		patch          string
		replaced, live int
		labels         string // which Nodes then have
	}{
		{`{"spec":{"health":{"startupTimeoutSeconds":1000}}}`, 0, 0, ""},
		{`{"spec":{"config":{"labels":{"example.com/tier":"front","example.com/row":"1"}}}}`, 0, 2, "example.com/tier=front,example.com/row=1"},
		{`{"spec":{"config":{"labels":{"example.com/tier":"back","example.com/row":null}}}}`, 0, 2, "example.com/tier=back,!example.com/row"},
		// Those that are made now are born with the label, and lose it as others do.
		{`{"spec":{"config":{"kubelet":{"maxPods":99}}}}`, 2, 0, "example.com/tier=back"},
		{`{"spec":{"config":{"labels":null}}}`, 0, 2, "!example.com/tier"},
		{`{"spec":{"machine":{"kubevirt":{"size":{"resources":{"memory":"6Gi"}}}}}}`, 2, 0, ""},
	} {
		foretold := s.foretell(change.patch)
		if foretold.Replaced != change.replaced || foretold.Changed != change.live {
			s.t.Errorf("%s: it is foretold that %q", change.patch, foretold.Lines())
		}
		were := s.machines()
		s.patch(change.patch)
		s.settles(change.labels)
		gone := 0
		now := s.machines()
		for _, name := range were {
			if !slices.Contains(now, name) {
				gone++
			}
		}
		if gone != foretold.Replaced {
			s.t.Errorf("%s: %d machines were replaced, and it was foretold that %q", change.patch, gone, foretold.Lines())
		}
	}
}

// foretell foretells what a change of the pool does.
func (s *stage) foretell(patch string) preview.Forecast {
	s.t.Helper()
	ctx, c := s.t.Context(), kubetest.Client(s.t)
	before := preview.State{Cluster: &api.TalosCluster{}}
	place := &api.Location{}
	var err error
	if before.Pool, err = s.get(ctx, "workers"); err != nil {
		s.t.Fatal(err)
	}
	for name, into := range map[string]client.Object{"shop": before.Cluster, "here": place} {
		if err := c.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, into); err != nil {
			s.t.Fatal(err)
		}
	}
	before.Location = place.Spec
	after := before
	after.Pool = before.Pool.DeepCopy()
	if err := c.Patch(ctx, after.Pool, client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll); err != nil {
		s.t.Fatal(err)
	}
	return preview.For(before, after)
}

// settles wants two machines of the newest revision whose Nodes have labels, and never more than the limit on the way.
func (s *stage) settles(labels string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		machines, err := s.list(ctx, virtual.MachineKind)
		if err != nil {
			return err
		}
		if len(machines) > 3 {
			s.t.Errorf("%d machines: the limit is two and a surge of one", len(machines))
		}
		if err := s.settled(ctx, 2); err != nil {
			return err
		}
		nodes, err := s.tenant.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels})
		if err == nil && len(nodes.Items) != 2 {
			err = fmt.Errorf("%d nodes have the labels %s", len(nodes.Items), labels)
		}
		return err
	})
}

// loses has somebody delete the MachineDeployment, which stays for a while, and wants the pool to say so, and to have it again.
func (s *stage) loses() {
	s.t.Helper()
	c := kubetest.Client(s.t)
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(virtual.DeploymentKind)
	deployment.SetNamespace(s.namespace)
	deployment.SetName("workers")
	hold := func(finalizers string) {
		patch := client.RawPatch("application/json-patch+json", []byte(finalizers))
		if err := c.Patch(s.t.Context(), deployment, patch); err != nil {
			s.t.Fatal(err)
		}
	}
	hold(`[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]`)
	if err := c.Delete(s.t.Context(), deployment); err != nil {
		s.t.Fatal(err)
	}
	s.says("workers", api.ConditionMachinesReady, api.ReasonDeleting, "somebody deleted MachineDeployment workers")
	s.says("workers", api.ConditionReady, api.ReasonDeleting, "it is made anew when it is gone")
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err
		}
		if left := deployment.GetFinalizers(); !slices.Equal(left, []string{"example.com/hold"}) {
			return fmt.Errorf("Cluster API is not done with it: %v", left)
		}
		return nil
	})
	hold(`[{"op":"remove","path":"/metadata/finalizers"}]`)
	s.wait(2)
}
