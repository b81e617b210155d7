// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// errAway says that the places do not run, and so nothing is known of their instances.
var errAway = errors.New("the places do not run")

// machineKind is a machine of Cluster API.
var machineKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}

// list lists objects of a kind in all namespaces.
func (s *Stage) list(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind)
	err := s.client.List(ctx, found)
	return found.Items, err
}

// glance looks at what can change at any moment: instances first, because machines are let go after them, and pools last.
func (s *Stage) glance(ctx context.Context) (invariant.Snapshot, error) {
	now := invariant.Snapshot{Instances: s.instances()}
	ours, pools, clusters := &api.TalosMachineList{}, &api.NodePoolList{}, &api.TalosClusterList{}
	if err := s.client.List(ctx, ours); err != nil {
		return now, err
	}
	theirs, err := s.list(ctx, machineKind)
	if err != nil {
		return now, err
	}
	if err := errors.Join(s.client.List(ctx, pools), s.client.List(ctx, clusters)); err != nil {
		return now, err
	}
	for at := range ours.Items {
		now.Machines = append(now.Machines, seeMachine(&ours.Items[at]))
	}
	for at := range theirs {
		now.Machines = append(now.Machines, seeVirtual(&theirs[at]))
	}
	for at := range pools.Items {
		now.Pools = append(now.Pools, seePool(&pools.Items[at]))
	}
	for at := range clusters.Items {
		now.Clusters = append(now.Clusters, seeCluster(&clusters.Items[at]))
	}
	now.At = time.Since(s.began)
	return now, nil
}

// look is a glance, with the Nodes of all tenants and the Secrets.
func (s *Stage) look(ctx context.Context) (invariant.Snapshot, error) {
	if s.Estate.Centre() == nil {
		return invariant.Snapshot{}, errAway
	}
	now, err := s.glance(ctx)
	if err != nil {
		return now, err
	}
	if now.Going, err = s.going(ctx); err != nil {
		return now, err
	}
	for _, cluster := range now.Clusters {
		nodes, err := s.nodes(ctx, cluster.Name)
		if err != nil {
			now.Unseen = append(now.Unseen, cluster.Name)
			continue
		}
		now.Nodes = append(now.Nodes, nodes...)
	}
	now.Secrets, err = s.secrets(ctx)
	return now, err
}

// going are the MachineDeployments that somebody has deleted and that are not gone yet: while Cluster API is away, their machines
// do not know it.
func (s *Stage) going(ctx context.Context) ([]string, error) {
	deployments, err := s.list(ctx, virtual.DeploymentKind)
	var found []string
	for _, each := range deployments {
		if each.GetDeletionTimestamp() != nil {
			found = append(found, clusterOf(each.GetNamespace())+"/"+each.GetName())
		}
	}
	return found, err
}

// instances are those of both places. The word of the place itself is taken, and not what it tells its callers.
func (s *Stage) instances() []invariant.Instance {
	centre := s.Estate.Centre()
	if centre == nil {
		return nil
	}
	var found []invariant.Instance
	for _, instance := range centre.Cloud.Instances() {
		found = append(found, invariant.Instance{Place: string(story.Cloud), Name: instance.Name, ID: instance.ProviderID, Ending: instance.State == backend.Deleting})
	}
	for _, machine := range centre.Rack.Machines() {
		if _, name, virtual := strings.Cut(machine.Name(), "/"); virtual {
			found = append(found, invariant.Instance{Place: string(story.House), Name: name, ID: "kubevirt://" + name})
		}
	}
	return found
}

// nodes are those of a tenant.
func (s *Stage) nodes(ctx context.Context, cluster string) ([]invariant.Node, error) {
	c, err := s.tenants.of(ctx, s.client, cluster)
	if err != nil {
		return nil, err
	}
	list := &corev1.NodeList{}
	if err := c.List(ctx, list); err != nil {
		return nil, err
	}
	var found []invariant.Node
	for _, node := range list.Items {
		ready := slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
		})
		found = append(found, invariant.Node{Cluster: cluster, Name: node.Name, Instance: node.Spec.ProviderID, Ready: ready, Label: node.Labels[label]})
	}
	return found, nil
}

// machinesOf are the machines of a pool that stay, in order of their names.
func (s *Stage) machinesOf(ctx context.Context, cluster, pool string) ([]client.Object, error) {
	ours := &api.TalosMachineList{}
	if err := s.client.List(ctx, ours, client.InNamespace(namespaceOf(cluster))); err != nil {
		return nil, err
	}
	theirs, err := s.list(ctx, machineKind)
	if err != nil {
		return nil, err
	}
	var found []client.Object
	add := func(object client.Object, seen invariant.Machine) {
		if seen.Cluster == cluster && seen.Pool == pool && !seen.Deleting {
			found = append(found, object)
		}
	}
	for at := range ours.Items {
		add(&ours.Items[at], seeMachine(&ours.Items[at]))
	}
	for at := range theirs {
		add(&theirs[at], seeVirtual(&theirs[at]))
	}
	slices.SortFunc(found, func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found, nil
}
