// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// shop is a tenant's cluster with pools in two kinds of places.
const shop = `
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house-NS}
spec: {kubevirt: {namespaces: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: cloud}
spec: {sim: {zone: cloud-1}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: general}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house-NS}
  replicas: 2
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: storage}
spec:
  clusterName: shop
  role: storage
  locationRef: {kind: ClusterLocation, name: house-NS}
  replicas: 1
  machine: {kubevirt: {size: {instanceType: u1.large}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: burst}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: cloud}
  replicas: 2
  machine: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  network: {podCIDRs: [10.60.0.0/16], serviceCIDRs: [10.61.0.0/16]}
  controlPlane: {kamaji: {}}
`

// TestFleet takes a cluster with pools in two kinds of places through its life: pools before their cluster, all Ready, scaled up,
// down, to zero and back, rolled, one broken on purpose, and deleted in order with nothing left behind.
func TestFleet(t *testing.T) {
	s := newStage(t)
	s.apply(shop)
	s.eventually(func(ctx context.Context) error { return s.clusterIs(ctx, "shop") })
	s.settled(map[string]int32{"general": 2, "storage": 1, "burst": 2})

	for _, count := range []int32{3, 1, 0, 2} {
		s.change("general", fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
		s.change("burst", fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
		s.settled(map[string]int32{"general": count, "storage": 1, "burst": count})
	}

	before := s.names()
	s.change("general", `{"spec":{"machine":{"kubevirt":{"size":{"resources":{"cpu":4,"memory":"8Gi"}}}}}}`)
	s.change("burst", `{"spec":{"machine":{"sim":{"resources":{"cpu":8,"memory":"16Gi"}}}}}`)
	s.eventually(func(ctx context.Context) error { return s.rolled(ctx, before, "general", "burst") })
	s.settled(map[string]int32{"general": 2, "storage": 1, "burst": 2})

	s.restarted()
	s.brokenPool()
	s.deleted()
}

// early is a pool before its cluster: it is looked at, and touches nothing else.
const early = `
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: early}
spec:
  clusterName: later
  role: plain
  locationRef: {kind: Location, name: cloud}
  replicas: 1
  machine: {sim: {}}
`

// restarted starts the operator again, which then looks at everything, and wants it to write nothing: a steady state is one. That a
// pool which is made now says what it waits for shows that the others were looked at before.
func (s *stage) restarted() {
	s.t.Helper()
	s.stop()
	before := s.versions()
	s.start()
	s.apply(early)
	s.eventually(func(ctx context.Context) error {
		if err := s.poolIs(ctx, "early", 1); err == nil || !strings.Contains(err.Error(), "waits for TalosCluster later") {
			return fmt.Errorf("the early pool: %w", err)
		}
		return nil
	})
	after := s.versions()
	for object, version := range before {
		if after[object] != version {
			s.t.Errorf("%s was written: its version was %s, and is %q", object, version, after[object])
		}
	}
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "early"}}
	if err := s.client.Delete(s.t.Context(), pool); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(func(ctx context.Context) error { return s.gone(ctx, pool) })
}

// versions are those of what only the operator writes, by kind and name.
func (s *stage) versions() map[string]string {
	s.t.Helper()
	versions := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{
		{Group: "minos.dev", Version: "v1alpha1", Kind: "TalosCluster"}, {Group: "minos.dev", Version: "v1alpha1", Kind: "NodePool"},
		{Group: "minos.dev", Version: "v1alpha1", Kind: "TalosMachine"}, {Version: "v1", Kind: "Secret"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"},
	} {
		found := &unstructured.UnstructuredList{}
		found.SetGroupVersionKind(kind)
		if err := s.client.List(s.t.Context(), found, client.InNamespace(s.namespace)); err != nil {
			s.t.Fatal(err)
		}
		for _, object := range found.Items {
			versions[kind.Kind+" "+object.GetName()] = object.GetResourceVersion()
		}
	}
	return versions
}

// settled wants pools to be ready, and the tenant to have just their Nodes.
func (s *stage) settled(pools map[string]int32) {
	s.t.Helper()
	s.eventually(func(ctx context.Context) error {
		total := 0
		for name, count := range pools {
			total += int(count)
			if err := s.poolIs(ctx, name, count); err != nil {
				return err
			}
		}
		nodes, err := s.nodes(ctx, "shop")
		if err == nil && len(nodes) != total {
			err = fmt.Errorf("there are the nodes %v, want %d", nodes, total)
		}
		return err
	})
}

// names are those of the Nodes now.
func (s *stage) names() []string {
	s.t.Helper()
	nodes, err := s.nodes(s.t.Context(), "shop")
	if err != nil {
		s.t.Fatal(err)
	}
	return nodes
}

// rolled wants no Node of pools to be one of those before.
func (s *stage) rolled(ctx context.Context, before []string, pools ...string) error {
	nodes, err := s.nodes(ctx, "shop")
	if err != nil {
		return err
	}
	for _, node := range nodes {
		for _, pool := range pools {
			for _, old := range before {
				if node == old && strings.HasPrefix(node, pool+"-") {
					return fmt.Errorf("node %s is still there", node)
				}
			}
		}
	}
	return nil
}

// brokenPool wants a pool that cannot be to harm nobody else.
func (s *stage) brokenPool() {
	s.t.Helper()
	before := s.names()
	broken := strings.Split(shop, "---\n")[2]
	broken = strings.Replace(broken, "name: general", "name: broken", 1)
	broken = strings.Replace(broken, "locationRef: {kind: ClusterLocation, name: house-NS}", "locationRef: {kind: Location, name: nowhere}", 1)
	s.apply(broken)
	s.eventually(func(ctx context.Context) error {
		err := s.poolIs(ctx, "broken", 2)
		if err == nil || !strings.Contains(err.Error(), "Location nowhere does not exist") {
			return fmt.Errorf("the broken pool: %w", err)
		}
		return nil
	})
	s.settled(map[string]int32{"general": 2, "storage": 1, "burst": 2})
	if after := s.names(); strings.Join(after, " ") != strings.Join(before, " ") {
		s.t.Errorf("the nodes are %v, and were %v", after, before)
	}
}

// deleted deletes in order, and wants nothing to be left in the management cluster or in the places.
func (s *stage) deleted() {
	s.t.Helper()
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "shop"}}
	if err := s.client.Delete(s.t.Context(), cluster); err == nil || !strings.Contains(err.Error(), "has the pools broken, burst, general, storage") {
		s.t.Errorf("a cluster with pools is deleted: %v", err)
	}
	for _, name := range []string{"general", "storage", "burst", "broken"} {
		pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		if err := s.client.Delete(s.t.Context(), pool); err != nil {
			s.t.Fatal(err)
		}
		s.eventually(func(ctx context.Context) error { return s.gone(ctx, pool) })
	}
	if machines := s.centre.Rack.Machines(); len(machines) > 0 {
		s.t.Errorf("there are machines left: %v", machines)
	}
	// A cluster can be deleted as soon as the webhook sees that its pools are gone.
	s.eventually(func(ctx context.Context) error { return client.IgnoreNotFound(s.client.Delete(ctx, cluster)) })
	s.eventually(func(ctx context.Context) error { return errors.Join(s.gone(ctx, cluster), s.nothingLeft(ctx)) })
}

// nothingLeft wants the namespace to be empty of what was made for the cluster.
func (s *stage) nothingLeft(ctx context.Context) error {
	var left []string
	for _, kind := range []schema.GroupVersionKind{
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}, {Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"},
		{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}, {Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineHealthCheck"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtCluster"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachine"},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"},
		{Group: "controlplane.cluster.x-k8s.io", Version: "v1alpha2", Kind: "KamajiControlPlane"},
		{Group: "minos.dev", Version: "v1alpha1", Kind: "TalosMachine"},
	} {
		found := &unstructured.UnstructuredList{}
		found.SetGroupVersionKind(kind)
		if err := s.client.List(ctx, found, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, object := range found.Items {
			left = append(left, kind.Kind+" "+object.GetName())
		}
	}
	secrets := &corev1.SecretList{}
	if err := s.client.List(ctx, secrets, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for _, secret := range secrets.Items {
		if secret.Name != "minos-admission" { // which is the operator's own
			left = append(left, "Secret "+secret.Name)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("left behind: %s", strings.Join(left, ", "))
	}
	return nil
}
