// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	sim "minos.dev/minos/sim/machine"
)

// testIsRefusedLive changes something that Talos does not take while it runs: machines say so in its words, without what the
// configuration holds, and are replaced within the limits.
func testIsRefusedLive(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1})
	w.run()
	w.eventually(w.ready(2))
	before := w.cloud.Instances()
	w.rack.Set(func(k *sim.Knobs) { k.NeedsReboot = true })
	w.pool.Spec.Config = &api.PoolConfig{Labels: map[string]string{"example.com/tier": "gold"}}
	w.revise("two", false)
	said := ""
	w.eventually(func(ctx context.Context) error {
		all, err := w.machines(ctx)
		if err != nil {
			return err
		}
		available := 0
		for at := range all {
			if seen := machines.See(&all[at]); seen.Available && !seen.Deleting {
				available++
			}
			if condition := meta.FindStatusCondition(all[at].Status.Conditions, api.ConditionUpToDate); condition != nil && condition.Reason == api.ReasonFailed {
				said = condition.Message
			}
		}
		if len(all) > 3 || available < 2 {
			t.Fatalf("%d machines of which %d work and stay: %s", len(all), available, stands(all))
		}
		return errors.Join(w.ready(2)(ctx), w.revised(all))
	})
	const want = "while it runs: this config change can't be applied in immediate mode; the machine is replaced within the limits of rollout"
	if !strings.HasSuffix(said, want) {
		t.Errorf("it says %q", said)
	}
	for _, instance := range w.cloud.Instances() {
		if slices.ContainsFunc(before, func(i backend.Instance) bool { return i.Name == instance.Name }) {
			t.Errorf("%s was not replaced", instance.Name)
		}
	}
	w.settlesAfterRefusal()
}

// settlesAfterRefusal takes a change back that Talos refuses: the machine has what it should have, and stays.
func (w *world) settlesAfterRefusal() {
	w.t.Helper()
	name := w.cloud.Instances()[0].Name
	w.rack.Set(func(k *sim.Knobs) { k.NeedsReboot = false })
	w.pool.Spec.Config = &api.PoolConfig{Labels: map[string]string{"example.com/tier": "lead"}}
	w.revise("three", false)
	w.eventually(func(ctx context.Context) error {
		all, err := w.machines(ctx)
		return errors.Join(err, w.ready(2)(ctx), w.revised(all))
	})
	if !slices.ContainsFunc(w.cloud.Instances(), func(i backend.Instance) bool { return i.Name == name }) {
		w.t.Errorf("%s was replaced for what Talos takes", name)
	}
}

// revised wants machines to have the newest revision.
func (w *world) revised(all []api.TalosMachine) error {
	for _, one := range all {
		if one.Status.Revision != w.revision {
			return errors.New(one.Name + " has revision " + one.Status.Revision)
		}
	}
	return nil
}
