// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	sim "minos.dev/minos/sim/machine"
)

// testUnproven has a machine with services whose Node is Ready before its Talos API answers: it does not count until its services were
// seen to run, and from then on whatever the API says.
func testUnproven(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1, withoutNodes: true, services: true})
	var gets atomic.Int32
	w.place = counted{w.place, &gets}
	w.rack.Set(func(knobs *sim.Knobs) { knobs.NoAPI = true })
	w.run()
	w.eventually(func(ctx context.Context) error {
		one, err := w.single(ctx)
		if err != nil {
			return err
		}
		if one.Annotations[machines.AnnotationJoined] != "" || machines.See(one).Available {
			t.Fatalf("it counts, and nobody has seen its services: %+v", one.Status.Conditions)
		}
		if !meta.IsStatusConditionTrue(one.Status.Conditions, api.ConditionNetworkReady) || !meta.IsStatusConditionFalse(one.Status.Conditions, api.ConditionServicesRunning) {
			return errors.New("its Node is not Ready yet" + stands([]api.TalosMachine{*one}))
		}
		return nil
	})
	w.rack.Set(func(knobs *sim.Knobs) { knobs.NoAPI = false })
	w.eventually(w.ready(1))
	w.kill()
	w.rack.Set(func(knobs *sim.Knobs) { knobs.NoAPI = true })
	asked := gets.Load()
	w.run() // who has not seen the services itself
	w.eventually(func(context.Context) error {
		if gets.Load() < asked+1 {
			return errors.New("the machine was not looked at")
		}
		return nil
	})
	w.kill()
	if err := w.ready(1)(t.Context()); err != nil {
		t.Errorf("it does not count any more: %v", err)
	}
}

// single is the only machine.
func (w *world) single(ctx context.Context) (*api.TalosMachine, error) {
	all, err := w.machines(ctx)
	if err == nil && len(all) != 1 {
		err = errors.New("there is not one machine" + stands(all))
	}
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}
