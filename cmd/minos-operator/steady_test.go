// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// TestSteady brings many clusters with five pools each to rest, and counts at the doors of the API servers what it costs to look at
// all of them again: once because the operator starts again, and once more while it runs. Ten show it: what is counted is held to
// how many there are. 'make bench' does the same with a hundred, which takes minutes.
//
// Nothing is written, here or in the tenants, and events would count. Nothing is listed: a cache is filled by watches, one for each
// kind, and all looks are into it. What is read past it is the webhook's certificate and its registration, of which there is one
// each, at the start and once a minute. Tenants have no cache, because thousands of those would cost more than they save: a look at a
// cluster reads four times there, and the look for Nodes that are left over, once a minute, a fifth time.
//
// What stands in for what is said at crowd. Machines are not part of it: that those of TestFleet are left alone is told there.
func TestSteady(t *testing.T) {
	clusters, begun := sizes(t, "STEADY_CLUSTERS", 10)[0], time.Now()
	c := newCrowd(t)
	c.operate()
	c.add(clusters)
	c.ownPools()
	c.pools(0, poolsEach-1)
	c.settled()
	c.quiet()
	t.Logf("at rest after %s, with %s of the operator's time", time.Since(begun).Round(time.Second), c.operator.cpu())
	c.operator.stop()

	all := map[string]float64{"taloscluster": float64(clusters), "nodepool": float64(clusters * poolsEach), "nodes": float64(clusters)}
	outside, inside, none := c.minos.seen(), c.inside.seen(), map[string]float64{}
	c.operate()
	first := c.looked(none, all)
	c.wroteNothing("the first pass", outside, inside)
	c.readLittle("the first pass", c.minos.seen().since(outside))
	c.readPerLook("the first pass", c.inside.seen().since(inside), first)
	t.Logf("all was looked at after %s, with %s of the operator's time", time.Since(begun).Round(time.Second), c.operator.cpu())

	outside, inside = c.minos.seen(), c.inside.seen()
	c.touch()
	delete(all, "nodes") // which come by themselves, once a minute
	second := c.looked(first, all)
	c.wroteNothing("the second pass", outside, inside)
	c.readPerLook("the second pass", c.inside.seen().since(inside), second)
	again := c.minos.seen().since(outside)
	maps.DeleteFunc(again, func(one call, count int) bool { return one.verb == "get" && count <= past[one.resource] })
	if len(again) > 0 {
		t.Errorf("the second pass asked the API server:\n%s", again)
	}
	t.Logf("and again after %s, with %s of the operator's time", time.Since(begun).Round(time.Second), c.operator.cpu())
}

// past is what may be read past the cache, and how often in the minute that a pass takes: at the start, and when the minute is over.
var past = map[string]int{"secrets": 3, "validatingwebhookconfigurations.admissionregistration.k8s.io": 3}

// mostKinds is how many kinds there are to be discovered and watched, at most. It has nothing to do with how many clusters there are.
const mostKinds = 40

// wroteNothing wants nobody to have written since, neither in the management cluster nor in the tenants.
func (c *crowd) wroteNothing(when string, outside, inside tally) {
	c.t.Helper()
	if wrote := c.minos.seen().since(outside).only(call.isWrite); len(wrote) > 0 {
		c.t.Errorf("%s wrote in the management cluster:\n%s", when, wrote)
	}
	if wrote := c.inside.seen().since(inside).only(call.isWrite); len(wrote) > 0 {
		c.t.Errorf("%s wrote in the tenants:\n%s", when, wrote)
	}
}

// readLittle wants an operator that starts to fill its cache, and to ask for nothing else but what may be read past it.
func (c *crowd) readLittle(when string, calls tally) {
	c.t.Helper()
	asked := 0
	for one, count := range calls {
		switch one.verb {
		case "list":
			c.t.Errorf("%s listed %s %d times", when, one.resource, count)
		case "get":
			if count > past[one.resource] {
				c.t.Errorf("%s read %s %d times", when, one.resource, count)
			}
		case "watch", "discover":
			asked += count
		}
	}
	if asked > mostKinds {
		c.t.Errorf("%s watched and discovered %d times:\n%s", when, asked, calls)
	}
}

// readPerLook wants no more reads in the tenants than looks allow.
func (c *crowd) readPerLook(when string, calls tally, looks map[string]float64) {
	c.t.Helper()
	calls = calls.only(func(one call) bool { return one.agent == "minos-operator" })
	if most := 4*looks["taloscluster"] + looks["nodes"]; float64(calls.total()) > most {
		c.t.Errorf("%s read %d times in the tenants, and not at most %v times:\n%s", when, calls.total(), most, calls)
	}
}

// looked waits until controllers have looked so often since before, and are idle, and says how often they did.
func (c *crowd) looked(before, wanted map[string]float64) map[string]float64 {
	c.t.Helper()
	since := map[string]float64{}
	c.eventually(func(ctx context.Context) error {
		turns, err := c.operator.turns(ctx)
		if err != nil {
			return err
		}
		for controller, count := range turns {
			since[controller] = count - before[controller]
		}
		for controller, count := range wanted {
			if since[controller] < count {
				return fmt.Errorf("controller %s has looked %v times, and not %v", controller, since[controller], count)
			}
		}
		return nil
	})
	return since
}

// touch has everything looked at once more: by an annotation that means nothing, on places for their pools, and on control planes
// for their clusters.
func (c *crowd) touch() {
	c.t.Helper()
	touch := func(ctx context.Context, object client.Object) error {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/touched":"yes"}}}`))
		return c.client.Patch(ctx, object, patch)
	}
	if err := touch(c.t.Context(), &api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: "house"}}); err != nil {
		c.t.Fatal(err)
	}
	c.each(0, func(ctx context.Context, cluster string) error {
		if err := touch(ctx, &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "cloud"}}); err != nil {
			return err
		}
		plane := kindOf("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane")
		plane.SetNamespace(cluster)
		plane.SetName(cluster)
		return touch(ctx, plane)
	})
}
