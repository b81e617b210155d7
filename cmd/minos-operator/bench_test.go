// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A cost is what was computed and called while pools came to rest.
type cost struct {
	minos, clusterAPI           time.Duration
	minosCalls, clusterAPICalls int
	took                        time.Duration
}

// poolsEach is how many pools a cluster has.
const poolsEach = 5

// BenchmarkPools measures what the pools of many clusters cost until they rest, up to a thousand pools of two hundred clusters, and how
// that grows; beside what the same MachineDeployments cost Cluster API's own controllers in the same moment, and then what as many cost
// those that somebody makes without Minos. Both are processes of their own, so that neither what API servers compute nor the test is in
// it, and both go through a door that counts. Pools have no machines: each is a MachineDeployment of none, a template and a health
// check, besides its tokens and its configuration, which are what Minos is for.
//
// Two hundred hosted API servers do not fit on a machine: what stands in for them is said at crowd.
func BenchmarkPools(b *testing.B) {
	steps := sizes(b, "BENCH_CLUSTERS", 20, 60, 200)
	c := newCrowd(b)
	c.operate()
	var first float64
	for at, size := range steps {
		from := before(steps, at)
		clusters := c.measure(func() { c.add(size - from) })
		pools := c.measure(func() { c.pools(from, poolsEach) })
		figures := pools.figures((size - from) * poolsEach)
		if at == 0 {
			first = figures["minos-ms/pool"]
		}
		figures["growth"] = figures["minos-ms/pool"] / first
		figures["minos-ms/cluster"] = milliseconds(clusters.minos) / float64(size-from)
		figures["minos-calls/cluster"] = float64(clusters.minosCalls) / float64(size-from)
		figures["minos-peak-MB"], figures["capi-peak-MB"] = c.operator.peak(), peakOf(b, c.plane.ClusterAPIProcess())
		report(b, fmt.Sprintf("clusters=%d", size), figures)
	}
	c.operator.stop()
	last := len(steps) - 1
	from := before(steps, last)
	alone := c.measure(func() { c.bare(from, poolsEach) }).figures((steps[last] - from) * poolsEach)
	report(b, fmt.Sprintf("clusters=%d/made-by-hand", steps[last]), map[string]float64{
		"capi-ms/pool": alone["capi-ms/pool"], "capi-calls/pool": alone["capi-calls/pool"], "s": alone["s"],
	})
}

// figures are those of so many pools.
func (c cost) figures(pools int) map[string]float64 {
	count := float64(pools)
	return map[string]float64{
		"s": c.took.Seconds(), "minos-ms/pool": milliseconds(c.minos) / count, "capi-ms/pool": milliseconds(c.clusterAPI) / count,
		"minos/capi":       float64(c.minos) / float64(c.clusterAPI),
		"minos-calls/pool": float64(c.minosCalls) / count, "capi-calls/pool": float64(c.clusterAPICalls) / count,
	}
}

// measure says what it costs until all rests again after something was done.
func (c *crowd) measure(do func()) cost {
	c.t.Helper()
	begun := time.Now()
	before, minos, clusterAPI := c.spent(), c.minos.seen(), c.clusterAPI.seen()
	do()
	if c.operator.alive() == nil {
		c.settled()
	}
	took := time.Since(begun)
	c.quiet()
	after := c.spent()
	return cost{
		minos: after.minos - before.minos, clusterAPI: after.clusterAPI - before.clusterAPI, took: took,
		minosCalls: c.minos.seen().since(minos).total(), clusterAPICalls: c.clusterAPI.seen().since(clusterAPI).total(),
	}
}

// spent is what both have computed until now. An operator that was stopped computes nothing.
func (c *crowd) spent() cost {
	c.t.Helper()
	spent := cost{clusterAPI: cpuOf(c.t, c.plane.ClusterAPIProcess())}
	if c.operator.alive() == nil {
		spent.minos = c.operator.cpu()
	}
	return spent
}

// bare makes what pools are made of, as often, without pools: a template, a MachineDeployment and a MachineHealthCheck each.
func (c *crowd) bare(from, each int) {
	c.t.Helper()
	c.each(from, func(ctx context.Context, cluster string) error {
		deployment, health := kindOf("cluster.x-k8s.io/v1beta2", "MachineDeployment"), kindOf("cluster.x-k8s.io/v1beta2", "MachineHealthCheck")
		for _, object := range []*unstructured.Unstructured{deployment, health} {
			if err := c.client.Get(ctx, types.NamespacedName{Namespace: cluster, Name: "pool-1"}, object); err != nil {
				return err
			}
		}
		name, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "infrastructureRef", "name")
		template := kindOf("infrastructure.cluster.x-k8s.io/v1alpha1", "KubevirtMachineTemplate")
		if err := c.client.Get(ctx, types.NamespacedName{Namespace: cluster, Name: name}, template); err != nil {
			return err
		}
		for at := range each {
			for _, object := range []*unstructured.Unstructured{template, deployment, health} {
				if err := c.client.Create(ctx, alike(object, cluster, fmt.Sprintf("bare-%d", at))); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// alike is an object of another name that belongs to nobody.
func alike(object *unstructured.Unstructured, cluster, name string) client.Object {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": object.DeepCopy().Object["spec"]}}
	made.SetGroupVersionKind(object.GroupVersionKind())
	made.SetNamespace(cluster)
	made.SetName(name)
	labels := map[string]any{"example.com/bare": name, "cluster.x-k8s.io/cluster-name": cluster}
	made.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": cluster})
	switch object.GetKind() {
	case "MachineDeployment":
		_ = unstructured.SetNestedMap(made.Object, labels, "spec", "selector", "matchLabels")
		_ = unstructured.SetNestedMap(made.Object, labels, "spec", "template", "metadata", "labels")
		_ = unstructured.SetNestedField(made.Object, name, "spec", "template", "spec", "infrastructureRef", "name")
	case "MachineHealthCheck":
		_ = unstructured.SetNestedMap(made.Object, labels, "spec", "selector", "matchLabels")
	}
	return made
}
