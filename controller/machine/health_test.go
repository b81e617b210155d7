// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	sim "minos.dev/minos/sim/machine"
)

// testNeverJoins gives a machine no pod network: it is replaced when the time to join has passed, and not before.
func testNeverJoins(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1, withoutNodes: true})
	w.rack.Set(func(knobs *sim.Knobs) { knobs.NoCNI = true })
	w.run()
	var stuck string
	w.eventually(func(ctx context.Context) error {
		all, err := w.machines(ctx)
		if err != nil {
			return err
		}
		if len(all) != 1 || !meta.IsStatusConditionFalse(all[0].Status.Conditions, api.ConditionNetworkReady) {
			return errors.New("it is not without a network yet" + stands(all))
		}
		stuck = all[0].Name
		return nil
	})
	w.cloud.Machine(stuck).Set(func(knobs *sim.Knobs) { knobs.NoCNI = true })
	w.rack.Set(func(knobs *sim.Knobs) { knobs.NoCNI = false })
	w.ahead(21 * time.Minute)
	w.eventually(func(ctx context.Context) error {
		var one api.TalosMachine
		err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: stuck}, &one)
		if err == nil && one.DeletionTimestamp.IsZero() {
			return errors.New("it is not given up")
		}
		return client.IgnoreNotFound(err)
	})
	w.ahead(0) // machines go by the real clock, and would not take certificates from the future
	w.eventually(func(ctx context.Context) error {
		if err := w.ready(1)(ctx); err != nil {
			return err
		}
		if w.cloud.Instances()[0].Name == stuck {
			return errors.New("the one without a network is there")
		}
		return w.noNode(ctx, stuck)
	})
	if got := w.measured(); got["minos_machine_verdicts_total sim failed"] != 1 || got["minos_machine_verdicts_total sim replaced"] != 1 {
		t.Errorf("the machine was not counted as failed and replaced, once: %v", got)
	}
	w.wantTold("NodePool Deleted", stuck+": it has not become ready within 20m0s")
}

// ahead sets the operator's clock.
func (w *world) ahead(by time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.shift = by
}

// testIsRevisedLive changes something that Talos takes while it runs: the machine gets it and is not replaced.
func testIsRevisedLive(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1})
	w.run()
	w.eventually(w.ready(1))
	name := w.cloud.Instances()[0].Name
	w.pool.Spec.Config = &api.PoolConfig{Labels: map[string]string{"example.com/tier": "gold"}}
	w.revise("two", false)
	w.eventually(func(ctx context.Context) error {
		var one api.TalosMachine
		if err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, &one); err != nil {
			return err
		}
		var node corev1.Node
		if err := w.nodes.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
			return err
		}
		if one.Status.Revision != w.revision || node.Labels["example.com/tier"] != "gold" {
			return errors.New("it has revision " + one.Status.Revision)
		}
		return w.ready(1)(ctx)
	})
	if made := w.count(" is made"); made != 1 {
		t.Errorf("%d instances were made, want 1", made)
	}
}
