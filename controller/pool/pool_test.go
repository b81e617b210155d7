// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/kubetest"
)

// says wants a condition of a pool with a reason and a part of its message.
func (s *stage) says(name, kind, reason, text string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		found, err := s.get(ctx, name)
		if err != nil {
			return err
		}
		condition := meta.FindStatusCondition(found.Status.Conditions, kind)
		if condition == nil || condition.Reason != reason || !strings.Contains(condition.Message, text) {
			return fmt.Errorf("%s is %+v; want %s %q", kind, condition, reason, text)
		}
		return nil
	})
}

// settled wants so many machines, all Ready Nodes of the newest revision, and nothing left of others.
func (s *stage) settled(ctx context.Context, count int32) error {
	found, err := s.get(ctx, "workers")
	if err != nil {
		return err
	}
	status := found.Status
	if status.ObservedGeneration != found.Generation || !meta.IsStatusConditionTrue(status.Conditions, api.ConditionReady) {
		return fmt.Errorf("generation %d, status %+v%s", found.Generation, status.Conditions, s.waiting())
	}
	for _, number := range []*int32{status.DesiredReplicas, status.Replicas, status.ReadyReplicas, status.UpToDateReplicas} {
		if number == nil || *number != count {
			return fmt.Errorf("numbers are not %d: %+v", count, status)
		}
	}
	nodes, err := s.tenant.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(nodes.Items) != int(count) {
		return fmt.Errorf("%d nodes; want %d", len(nodes.Items), count)
	}
	templates, err := s.list(ctx, virtual.TemplateKind)
	if err != nil {
		return err
	}
	secrets, err := s.revisions(ctx)
	if err != nil {
		return err
	}
	if len(templates) != 1 || len(secrets) != 1 || secrets[0] != found.Name+"-"+status.Revision {
		return fmt.Errorf("%d templates, revisions %v", len(templates), secrets)
	}
	return nil
}

// waiting says how far machines are that are not ready.
func (s *stage) waiting() string {
	var all strings.Builder
	for _, machine := range s.rack.Machines() {
		fmt.Fprintf(&all, "\n%s: %+v", machine.Name(), machine.Status())
	}
	return all.String()
}

// revisions are the Secrets with configurations, without copies.
func (s *stage) revisions(ctx context.Context) ([]string, error) {
	secrets := &corev1.SecretList{}
	err := kubetest.Client(s.t).List(ctx, secrets, client.InNamespace(s.namespace), client.MatchingLabels{names.LabelPurpose: names.PurposeConfiguration})
	var all []string
	for _, secret := range secrets.Items {
		if !strings.HasSuffix(secret.Name, "-userdata") {
			all = append(all, secret.Name)
		}
	}
	slices.Sort(all)
	return all, err
}

// wait wants the pool to settle.
func (s *stage) wait(count int32) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { return s.settled(ctx, count) })
}

// TestLifeOfAPool takes a pool from before its cluster exists to when nothing is left of it.
func TestLifeOfAPool(t *testing.T) {
	s := newStage(t)
	s.apply(declaredPool)
	s.says("workers", api.ConditionClusterReady, api.ReasonWaiting, "waits for TalosCluster shop")
	s.openCluster()
	s.says("workers", api.ConditionLocationReady, api.ReasonNotFound, "Location here does not exist")
	s.says("workers", api.ConditionClusterReady, api.ReasonNotYetKnown, "TalosCluster shop runs")
	s.apply(declaredLocation)
	s.says("workers", api.ConditionClusterReady, api.ReasonWaiting, "the tokens in Secret workers-join are not known")
	s.activate("workers")
	s.wait(2)
	s.labelled()
	s.quiet()

	before := measures(t)
	s.scales()
	s.autoscales()
	s.rolls()
	s.rolledTwice(before)
	s.moves()
	s.breaks()
	s.loses()
	s.deletes()
	s.unmeasured()
}

// labelled wants the Nodes to have the role that a kubelet may not give itself.
func (s *stage) labelled() {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		nodes, err := s.tenant.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/plain"})
		if err == nil && len(nodes.Items) != 2 {
			err = fmt.Errorf("%d nodes have the role", len(nodes.Items))
		}
		return err
	})
}

// scales scales the pool up, to nothing and back.
func (s *stage) scales() {
	s.t.Helper()
	for _, count := range []int32{3, 0, 1} {
		s.patch(fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
		s.wait(count)
	}
}

// autoscales leaves the number of machines to somebody else, and takes it back.
func (s *stage) autoscales() {
	s.t.Helper()
	s.patch(`{"spec":{"replicas":null,"autoscaling":{"min":1,"max":3}}}`)
	s.wait(1)
	deployments, err := s.list(s.t.Context(), virtual.DeploymentKind)
	if err != nil {
		s.t.Fatal(err)
	}
	scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
	if err := kubetest.Client(s.t).Patch(s.t.Context(), &deployments[0], scale, client.FieldOwner("cluster-autoscaler")); err != nil {
		s.t.Fatal(err)
	}
	s.wait(2)
	s.quiet() // the number is the autoscaler's
	s.patch(`{"spec":{"replicas":1,"autoscaling":null}}`)
	s.wait(1)
}

// moves changes what the place decides, and wants new machines to get it and no machine to be replaced.
func (s *stage) moves() {
	s.t.Helper()
	before, err := s.list(s.t.Context(), virtual.TemplateKind)
	if err != nil {
		s.t.Fatal(err)
	}
	were := s.machines()
	location := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "here"}}
	class := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"kubevirt":{"storageClassName":"other"}}}`))
	if err := kubetest.Client(s.t).Patch(s.t.Context(), location, class); err != nil {
		s.t.Fatal(err)
	}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		after, err := s.list(ctx, virtual.TemplateKind)
		if err != nil || len(after) != 1 || after[0].GetName() != before[0].GetName() || after[0].GetUID() == before[0].GetUID() {
			return fmt.Errorf("%d templates, %w", len(after), err)
		}
		return s.settled(ctx, 2)
	})
	if now := s.machines(); !slices.Equal(now, were) {
		s.t.Errorf("the machines are %v, and were %v", now, were)
	}
}

// machines are the names of the machines.
func (s *stage) machines() []string {
	s.t.Helper()
	found, err := s.list(s.t.Context(), virtual.MachineKind)
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, machine := range found {
		all = append(all, machine.GetName())
	}
	slices.Sort(all)
	return all
}

// breaks gives the pool a layer that is refused, and wants nothing to change but what it says.
func (s *stage) breaks() {
	s.t.Helper()
	before, err := s.list(s.t.Context(), virtual.DeploymentKind)
	if err != nil {
		s.t.Fatal(err)
	}
	s.patch(`{"spec":{"config":{"patches":[{"cluster":{"clusterName":"other"}}]}}}`)
	s.says("workers", api.ConditionConfigurationReady, api.ReasonInvalid, "cluster.clusterName")
	s.says("workers", api.ConditionMachinesReady, api.ReasonReady, "2 of 2")
	after, err := s.list(s.t.Context(), virtual.DeploymentKind)
	if err != nil {
		s.t.Fatal(err)
	}
	if before[0].GetGeneration() != after[0].GetGeneration() {
		s.t.Error("a broken layer changed the MachineDeployment")
	}
	s.patch(`{"spec":{"config":{"patches":null}}}`)
	s.wait(2)
}

// deletes deletes the pool, and wants nothing to be left of it anywhere.
func (s *stage) deletes() {
	s.t.Helper()
	c := kubetest.Client(s.t)
	found, err := s.get(s.t.Context(), "workers")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Delete(s.t.Context(), found); err != nil {
		s.t.Fatal(err)
	}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		now, err := s.get(ctx, "workers")
		if !apierrors.IsNotFound(err) {
			return errors.Join(fmt.Errorf("it is still there: %+v", now.Status.Conditions), err)
		}
		return nil
	})
	s.nothingLeft()
}

// nothingLeft wants that nothing with the pool's label is left, nor a machine.
func (s *stage) nothingLeft() {
	s.t.Helper()
	ctx := s.t.Context()
	for kind := range virtual.Kinds(&api.NodePool{}) {
		objects, err := s.list(ctx, kind)
		if err != nil || len(objects) > 0 {
			s.t.Errorf("%d of %s are left, %v", len(objects), kind.Kind, err)
		}
	}
	secrets := &corev1.SecretList{}
	if err := kubetest.Client(s.t).List(ctx, secrets, client.InNamespace(s.namespace), client.HasLabels{names.LabelPool}); err != nil {
		s.t.Fatal(err)
	}
	for _, secret := range secrets.Items {
		s.t.Errorf("Secret %s is left", secret.Name)
	}
	if machines := s.rack.Machines(); len(machines) > 0 {
		s.t.Errorf("%d machines are left in the rack", len(machines))
	}
}
