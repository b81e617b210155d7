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

// BenchmarkPools measures what a thousand pools cost until they rest, beside what the same MachineDeployments cost Cluster API's own
// controllers in the same moment; and then what as many cost those that somebody makes without Minos. Both are processes of their
// own, so that neither what API servers compute nor the test is in it, and both go through a door that counts. Pools have no
// machines: each is a MachineDeployment of none, a template and a health check, besides its tokens and its configuration, which are
// what Minos is for. Before a thousand there are a hundred: what one costs must not grow with how many there are.
func BenchmarkPools(b *testing.B) {
	const each, few, many = 20, 5, 50
	for b.Loop() {
		c := newCrowd(b)
		c.operate()
		c.add(few)
		small := c.measure(func() { c.pools(0, each) })
		c.add(many)
		large := c.measure(func() { c.pools(few, each) })
		c.operator.stop()
		bare := c.measure(func() { c.bare(few, each) })

		const pools = float64(each * many)
		per := func(total time.Duration, count float64) float64 { return float64(total.Microseconds()) / 1000 / count }
		b.ReportMetric(per(large.minos, pools), "minos-ms/pool")
		b.ReportMetric(per(large.clusterAPI, pools), "capi-ms/pool")
		b.ReportMetric(per(bare.clusterAPI, pools), "capi-alone-ms/pool")
		b.ReportMetric(float64(large.minos)/float64(large.clusterAPI), "minos/capi")
		b.ReportMetric(float64(large.minosCalls)/pools, "minos-calls/pool")
		b.ReportMetric(float64(large.clusterAPICalls)/pools, "capi-calls/pool")
		b.ReportMetric(float64(bare.clusterAPICalls)/pools, "capi-alone-calls/pool")
		b.ReportMetric(per(large.minos, pools)/per(small.minos, each*few), "growth")
		b.ReportMetric(large.took.Seconds(), "s/thousand")
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
	c.quiet()
	after := c.spent()
	return cost{
		minos: after.minos - before.minos, clusterAPI: after.clusterAPI - before.clusterAPI, took: time.Since(begun),
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
