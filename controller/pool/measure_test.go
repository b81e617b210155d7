// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/sim/kubetest"
)

// measured is what all pools of these tests measure.
var measured = metrics.New(nil)

// measures are all series and their values; of durations, how many were measured.
func measures(t *testing.T) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(measured)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			name := family.GetName()
			for _, pair := range series.GetLabel() {
				name += " " + pair.GetValue()
			}
			found[name] = series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return found
}

// rolledTwice wants two roll-outs to have begun and finished, although machines came and went for other reasons, and every join to have
// been measured with its steps.
func (s *stage) rolledTwice(before map[string]float64) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		now := measures(s.t)
		for _, name := range []string{"minos_rollouts_begun_total kubevirt", "minos_rollout_duration_seconds kubevirt"} {
			if now[name]-before[name] != 2 {
				return fmt.Errorf("%s went from %v to %v", name, before[name], now[name])
			}
		}
		if joins := now["minos_machine_join_duration_seconds kubevirt"]; joins < 6 || now["minos_machine_join_step_duration_seconds kubevirt NodeRegistered"] != joins {
			return fmt.Errorf("joins are not measured: %v", now)
		}
		if now["minos_machines kubevirt Ready"] != 2 || now["minos_pools kubevirt Ready"] != 1 {
			return fmt.Errorf("what is so is not measured: %v", now)
		}
		return s.toldOf(ctx, "RolloutBegun", "RolloutFinished")
	})
}

// toldOf wants people to have heard of things, twice each.
func (s *stage) toldOf(ctx context.Context, reasons ...string) error {
	var all corev1.EventList
	if err := kubetest.Client(s.t).List(ctx, &all, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, event := range all.Items {
		counts[event.Reason]++
	}
	for _, reason := range reasons {
		if counts[reason] != 2 {
			return fmt.Errorf("people heard %d times of %s", counts[reason], reason)
		}
	}
	return nil
}

// unmeasured wants nothing to be said of a pool that is gone.
func (s *stage) unmeasured() {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(context.Context) error {
		if now := measures(s.t); now["minos_machines kubevirt Ready"]+now["minos_machines kubevirt Leaving"]+now["minos_pools kubevirt Deleting"] > 0 {
			return fmt.Errorf("a pool that is gone is measured: %v", now)
		}
		return nil
	})
}
