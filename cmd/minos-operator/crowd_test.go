// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
)

// A crowd is many clusters with many pools, on a management cluster of their own with a real API server and the real controllers of
// Cluster API.
//
// A hundred hosted API servers do not fit on a machine. So the test stands in for Kamaji: it gives every KamajiControlPlane an
// address and says that it is ready, but behind all of them is one real API server, and behind each address only the port of a
// signer, with the certificate that the operator made for it. For Minos each is a cluster of its own, with an identity, tokens
// and permissions of its own. Pools have no machines: those of virtual machines are a MachineDeployment of none.
type crowd struct {
	t      testing.TB
	client client.Client
	plane  *controlplane.ControlPlane
	// minos and clusterAPI are the ways by which the two reach the management cluster, and inside the one to the tenants.
	minos, clusterAPI, inside *door

	network  *loopback.Network
	tenant   *hosted.ControlPlane
	cloud    string
	webhook  string
	operator *program
	clusters []string
	expected int // how many pools there are
}

// patience bounds a wait for a crowd on a busy machine.
const patience = 20 * time.Minute

// newCrowd starts the management cluster, the tenants' API server and a cloud, without an operator.
func newCrowd(t testing.TB) *crowd {
	t.Helper()
	c := newManagement(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var err error
	if c.network, err = loopback.Claim(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.network.Close() })
	address, err := c.network.Take("tenants")
	if err != nil {
		t.Fatal(err)
	}
	if c.tenant, err = hosted.Start(ctx, hosted.Options{Dir: t.TempDir(), Address: address}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.tenant.Kill)
	c.inside = newDoor(t, c.tenant.Config())
	c.openCloud()
	return c
}

// openCloud opens the place for pools of machines of our own.
func (c *crowd) openCloud() {
	c.t.Helper()
	rack, err := machine.NewRack(machine.Environment{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(rack.Close)
	opened, err := cloud.Open(cloud.Options{Rack: rack})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(opened.Close)
	ctx, cancel := context.WithCancel(context.Background())
	server, err := opened.Listen(ctx, "127.0.0.1:0", "sesame")
	if err != nil {
		cancel()
		c.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	c.t.Cleanup(func() { cancel(); <-done })
	c.cloud = server.URL()
}

// create makes an object in a namespace.
func (c *crowd) create(namespace, text string) {
	c.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), object); err != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	object.SetNamespace(namespace)
	if err := c.client.Create(c.t.Context(), object); err != nil {
		c.t.Fatal(err)
	}
}

// each does something for every cluster from one on, some at a time, and waits. It reports what failed.
func (c *crowd) each(from int, do func(ctx context.Context, cluster string) error) {
	c.t.Helper()
	var work sync.WaitGroup
	turns := make(chan struct{}, 8)
	for _, cluster := range c.clusters[from:] {
		turns <- struct{}{}
		work.Go(func() {
			defer func() { <-turns }()
			if err := do(c.t.Context(), cluster); err != nil {
				c.t.Errorf("%s: %v", cluster, err)
			}
		})
	}
	work.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// add declares clusters, each in a namespace of its name, and stands in for Kamaji until all are ready.
func (c *crowd) add(count int) {
	c.t.Helper()
	from := len(c.clusters)
	for at := range count {
		c.clusters = append(c.clusters, fmt.Sprintf("tenant-%d", from+at))
	}
	c.each(from, c.declare)
	c.each(from, c.host)
	c.settled()
}

// declare makes a namespace with a cluster, a place of the tenant's own, and what Kamaji would write.
func (c *crowd) declare(ctx context.Context, name string) error {
	inNamespace := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: name, Name: name + suffix, Labels: map[string]string{"cluster.x-k8s.io/cluster-name": name}}
	}
	authority := c.tenant.Authority()
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&corev1.Secret{ObjectMeta: inNamespace("-ca"), Data: map[string][]byte{corev1.TLSCertKey: authority.Certificate, corev1.TLSPrivateKeyKey: authority.Key}},
		&corev1.Secret{ObjectMeta: inNamespace("-kubeconfig"), Type: "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": c.inside.kubeconfig("")}},
		&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "cloud"}, Spec: api.LocationSpec{Sim: &api.SimLocation{Place: api.Place{Zone: "cloud-1"}}}},
		&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}, Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.36.3", TalosVersion: "v1.13.9", ControlPlane: api.ControlPlane{Kamaji: &api.KamajiControlPlane{}},
		}},
	} {
		if err := c.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// pools declares pools of virtual machines for every cluster from one on.
func (c *crowd) pools(from, each int) {
	c.t.Helper()
	c.expected += each * (len(c.clusters) - from)
	c.each(from, func(ctx context.Context, cluster string) error {
		for at := range each {
			if err := c.client.Create(ctx, poolOf(cluster, at+1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// ownPools declares a pool of machines of our own for every cluster.
func (c *crowd) ownPools() {
	c.t.Helper()
	c.expected += len(c.clusters)
	c.each(0, func(ctx context.Context, cluster string) error { return c.client.Create(ctx, poolOf(cluster, 0)) })
}

// poolOf is one pool of a cluster, without machines. The first is of machines of our own, the others are of virtual machines.
func poolOf(cluster string, at int) *api.NodePool {
	none := int32(0)
	pool := &api.NodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: fmt.Sprintf("pool-%d", at)},
		Spec: api.NodePoolSpec{
			ClusterName: api.Name(cluster), Role: "plain", Replicas: &none,
			LocationRef: api.LocationReference{Kind: api.KindClusterLocation, Name: "house"},
		},
	}
	if at == 0 {
		pool.Spec.LocationRef = api.LocationReference{Kind: api.KindLocation, Name: "cloud"}
		pool.Spec.Machine.Sim = &api.SimMachine{}
		return pool
	}
	pool.Spec.Machine.KubeVirt = &api.KubeVirtMachine{Size: api.KubeVirtSize{InstanceType: "u1.large"}}
	return pool
}

// eventually waits, as long as the operator runs.
func (c *crowd) eventually(holds func(ctx context.Context) error) {
	c.t.Helper()
	kubetest.Eventually(c.t, patience, func(ctx context.Context) error {
		if err := c.operator.alive(); err != nil {
			c.t.Error(err)
			return nil
		}
		return holds(ctx)
	})
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// settled waits until every cluster and every pool is ready: one after the other, because to list them all again and again would
// cost more than what is measured.
func (c *crowd) settled() {
	c.t.Helper()
	pools := &api.NodePoolList{}
	if err := c.client.List(c.t.Context(), pools); err != nil {
		c.t.Fatal(err)
	}
	if len(pools.Items) != c.expected {
		c.t.Fatalf("there are %d pools, want %d", len(pools.Items), c.expected)
	}
	for at := range pools.Items {
		one := &pools.Items[at]
		c.eventually(func(ctx context.Context) error {
			if err := c.client.Get(ctx, client.ObjectKeyFromObject(one), one); err != nil {
				return err
			}
			return ready(one.Namespace+"/"+one.Name, one.Generation, one.Status.ObservedGeneration, one.Status.Conditions)
		})
	}
	for _, name := range c.clusters {
		c.eventually(func(ctx context.Context) error {
			one := &api.TalosCluster{}
			if err := c.client.Get(ctx, types.NamespacedName{Namespace: name, Name: name}, one); err != nil {
				return err
			}
			return ready(name, one.Generation, one.Status.ObservedGeneration, one.Status.Conditions)
		})
	}
}

// quiet waits until nobody has written anything through the doors for some looks, one after the other.
func (c *crowd) quiet() {
	c.t.Helper()
	const looks = 40 // two seconds
	var before, still int
	kubetest.Eventually(c.t, patience, func(context.Context) error {
		now := c.minos.seen().only(call.isWrite).total() + c.clusterAPI.seen().only(call.isWrite).total()
		if still++; now != before {
			before, still = now, 0
		}
		if still < looks {
			return fmt.Errorf("after %d writes it is quiet for %d looks only", now, still)
		}
		return nil
	})
}
