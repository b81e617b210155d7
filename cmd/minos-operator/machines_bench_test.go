// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkMachines measures what the machines of one cluster cost until all are ready, up to a thousand in four pools, and how that
// grows; then what it costs to look at all of them again, which must not write anything, to remove a tenth, and to roll a tenth.
//
// The measure is what as many machines cost in the same run that nobody looks after: the place is asked for the very same, by nobody
// in particular, while no operator runs. Both go up by steps, so that a step is paid with those before it there: a machine that is there
// renews its lease.
func BenchmarkMachines(b *testing.B) {
	steps := sizes(b, "BENCH_MACHINES", 100, 300, 1000)
	y := newYard(b)
	y.operator.stop()
	var bare []expense
	for at, size := range steps {
		bare = append(bare, y.pay(func() { y.bare(there(steps, at), size) }))
	}
	y.sweep()
	y.operate()
	y.arrived()
	y.quiet()

	var first float64
	for at, size := range steps {
		paid := y.pay(func() { y.scale(shares(size)); y.arrived() })
		y.nodesAre(size)
		more := float64(size - there(steps, at))
		if at == 0 {
			first = paid.minos.Seconds() / more
		}
		figures := paid.each(more)
		figures["bare-s"] = bare[at].took.Seconds()
		figures["bare-all-cpu-ms/machine"] = milliseconds(bare[at].all) / more
		figures["times-bare-s"] = paid.took.Seconds() / bare[at].took.Seconds()
		figures["times-bare-cpu"] = paid.all.Seconds() / bare[at].all.Seconds()
		figures["minos/bare-cpu"] = paid.minos.Seconds() / bare[at].all.Seconds()
		figures["growth"] = paid.minos.Seconds() / more / first
		figures["minos-peak-MB"] = y.operator.peak()
		report(b, fmt.Sprintf("machines=%d", size), figures)
	}
	y.later(b, steps[len(steps)-1])
}

// there is how many machines there are before a step: one before the first.
func there(steps []int, at int) int { return max(1, before(steps, at)) }

// later measures what happens to many machines that are there.
func (y *yard) later(b *testing.B, size int) {
	b.Helper()
	looked := y.restarted()
	figures := looked.each(float64(size))
	figures["writes"] = float64(looked.calls.only(call.isWrite).total()) + sum(looked.tenant) - looked.tenant["GET"]
	figures["minos-peak-MB"] = y.operator.peak()
	report(b, fmt.Sprintf("machines=%d/looked-at", size), figures)

	want := shares(size)
	tenth := int(want[yardPools-1])
	want[0] -= int32(tenth)
	paid := y.pay(func() { y.scale(want); y.arrived(); y.nodesAre(size - tenth) })
	report(b, fmt.Sprintf("machines=%d/a-tenth-removed", size), paid.each(float64(tenth)))

	paid = y.pay(func() {
		y.change(yardPools-1, `{"spec":{"machine":{"sim":{"resources":{"cpu":8,"memory":"16Gi"}}}}}`)
		y.arrived()
		y.nodesAre(size - tenth)
	})
	if made := paid.place["create"]; made != float64(tenth) {
		b.Errorf("to roll %d machines, %v were made", tenth, made)
	}
	report(b, fmt.Sprintf("machines=%d/a-tenth-rolled", size), paid.each(float64(tenth)))
}

// each are the figures of an expense for each of so many machines.
func (e expense) each(machines float64) map[string]float64 {
	figures := map[string]float64{
		"s":                    e.took.Seconds(),
		"minos-cpu-ms/machine": milliseconds(e.minos) / machines,
		"all-cpu-ms/machine":   milliseconds(e.all) / machines,
		"calls/machine":        float64(e.calls.total()) / machines,
		"tenant-calls/machine": sum(e.tenant) / machines,
		"place-calls/machine":  sum(e.place) / machines,
	}
	for verb, count := range e.calls.verbs() {
		figures[verb+"-calls/machine"] = count / machines
	}
	return figures
}

// nodesAre wants so many Nodes in a cluster.
func nodesAre(ctx context.Context, inside client.Client, count int) error {
	nodes := &corev1.NodeList{}
	if err := inside.List(ctx, nodes); err != nil {
		return err
	}
	if len(nodes.Items) != count {
		return fmt.Errorf("there are %d Nodes, want %d", len(nodes.Items), count)
	}
	return nil
}
