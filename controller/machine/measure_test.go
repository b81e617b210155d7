// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// measured are all series and their values; of durations, how many were measured.
func (w *world) measured() map[string]float64 {
	w.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(w.measures)
	families, err := registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			name := family.GetName()
			for _, pair := range series.GetLabel() {
				if pair.GetName() != "namespace" && pair.GetName() != "cluster" {
					name += " " + pair.GetValue()
				}
			}
			found[name] = series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return found
}

// wantMeasured waits until something is measured so often.
func (w *world) wantMeasured(name string, want float64) {
	w.t.Helper()
	w.eventually(func(context.Context) error {
		if got := w.measured(); got[name] != want {
			return fmt.Errorf("%s is not %v: %v", name, want, got)
		}
		return nil
	})
}

// wantJoins waits until so many joins are measured, each with its steps, and people have heard of each. What only Talos could tell may
// not have been seen.
func (w *world) wantJoins(count int) {
	w.t.Helper()
	w.wantMeasured("minos_machine_join_duration_seconds sim", float64(count))
	for _, step := range []string{api.ConditionInstanceReady, api.ConditionConfigured, api.ConditionKubeletAuthorized, api.ConditionNodeRegistered, api.ConditionNetworkReady} {
		w.wantMeasured("minos_machine_join_step_duration_seconds sim "+step, float64(count))
	}
	w.eventually(func(ctx context.Context) error {
		for _, reason := range []string{"TalosMachine Joined", "NodePool Created"} {
			told, err := w.told(ctx, reason)
			if err != nil {
				return err
			}
			if len(told) != count {
				return fmt.Errorf("people heard of %s: %v", reason, told)
			}
		}
		return nil
	})
}

// told are the words of events of a kind and a reason.
func (w *world) told(ctx context.Context, what string) ([]string, error) {
	var all eventsv1.EventList
	err := w.client.List(ctx, &all, client.InNamespace(w.namespace))
	var found []string
	for _, event := range all.Items {
		if event.Regarding.Kind+" "+event.Reason == what {
			found = append(found, event.Note)
		}
	}
	slices.Sort(found)
	return found, err
}

// wantTold waits until people heard of something in these words.
func (w *world) wantTold(what, words string) {
	w.t.Helper()
	w.eventually(func(ctx context.Context) error {
		told, err := w.told(ctx, what)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, words) }) {
			return fmt.Errorf("nobody heard of %s with %q: %v", what, words, told)
		}
		return nil
	})
}
