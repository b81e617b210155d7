// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/sim/conduct"
)

// testLostAnswer loses the answer to each first Create: it is asked for again in the same words, and no second instance is made.
func testLostAnswer(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1, behaviour: conduct.Behaviour{Faults: []conduct.Fault{
		{Kind: conduct.LosesAnswer, Calls: []conduct.Call{conduct.Create}, Times: 1},
	}}})
	w.run()
	w.eventually(w.ready(2))
	if lost, made := w.count("the answer is lost"), w.count(" is made"); lost != 2 || made != 2 {
		t.Errorf("%d answers were lost and %d instances made, want 2 and 2", lost, made)
	}
}

// testQuota wants a machine that the place has no room for to say so, and to go on when there is.
func testQuota(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1, behaviour: conduct.Behaviour{Quota: 1}})
	w.run()
	w.eventually(func(ctx context.Context) error {
		all, err := w.machines(ctx)
		if err != nil {
			return err
		}
		full := slices.ContainsFunc(all, func(one api.TalosMachine) bool {
			condition := meta.FindStatusCondition(one.Status.Conditions, api.ConditionInstanceReady)
			return condition != nil && condition.Reason == api.ReasonNoCapacity
		})
		if !full {
			return errors.New("nobody says that there is no room" + stands(all))
		}
		return nil
	})
	w.keeper.Set(conduct.Behaviour{})
	w.eventually(w.ready(2))
}

// testDies lets an instance die: it is replaced by one of another name.
func testDies(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1})
	w.run()
	w.eventually(w.ready(2))
	dead := w.cloud.Instances()[0].Name
	if err := w.cloud.Kill(dead); err != nil {
		t.Fatal(err)
	}
	w.touch(dead) // a place tells nobody, and who is ready is looked at once a minute
	w.eventually(func(ctx context.Context) error {
		if err := w.ready(2)(ctx); err != nil {
			return err
		}
		if slices.ContainsFunc(w.cloud.Instances(), func(i backend.Instance) bool { return i.Name == dead }) {
			return errors.New("the dead one is there")
		}
		return w.noNode(ctx, dead)
	})
	w.wantTold("TalosMachine Failed", "the machine counts as failed: the place")
	w.wantMeasured("minos_machine_verdicts_total sim failed", 1)
	w.wantMeasured("minos_machine_verdicts_total sim replaced", 1)
}

// touch has a machine looked at now.
func (w *world) touch(name string) {
	w.t.Helper()
	one := &api.TalosMachine{}
	one.Namespace, one.Name = w.namespace, name
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test":"%d"}}}`, time.Now().UnixNano())
	if err := w.client.Patch(w.t.Context(), one, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		w.t.Fatal(err)
	}
}

// noNode wants no Node of a name.
func (w *world) noNode(ctx context.Context, name string) error {
	err := w.nodes.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return errors.Join(err, fmt.Errorf("Node %s is there", name))
}

// testRolls makes a new revision the newest: all machines are replaced, never more than four exist, and three always work.
func testRolls(t *testing.T) {
	w := newWorld(t, options{replicas: 3, surge: 1})
	w.run()
	w.eventually(w.ready(3))
	before := w.cloud.Instances()
	w.revise("two", true)
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
		}
		if len(all) > 4 || available < 3 {
			t.Fatalf("%d machines of which %d work and stay: %s", len(all), available, stands(all))
		}
		return w.ready(3)(ctx)
	})
	for _, instance := range w.cloud.Instances() {
		if slices.ContainsFunc(before, func(i backend.Instance) bool { return i.Name == instance.Name }) {
			t.Errorf("%s was not replaced", instance.Name)
		}
	}
	if made := w.count(" is made"); made != 6 {
		t.Errorf("%d instances were made, want 6", made)
	}
}

// counted counts how often a place is asked for an instance.
type counted struct {
	backend.Place
	gets *atomic.Int32
}

// Get counts.
func (c counted) Get(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
	c.gets.Add(1)
	return c.Place.Get(ctx, owner, id)
}

// testSteadyStateWritesNothing looks at machines again that are as they should be.
func testSteadyStateWritesNothing(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1, withoutNodes: true})
	var gets atomic.Int32
	w.place = counted{w.place, &gets}
	w.run()
	w.eventually(w.ready(2))
	w.kill()
	versions := func() (found []string) {
		all, err := w.machines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			found = append(found, one.Name+"/"+one.ResourceVersion)
		}
		return found
	}
	before, asked := versions(), gets.Load()
	w.run()
	w.eventually(func(context.Context) error {
		if gets.Load() < asked+2 {
			return errors.New("the machines were not looked at")
		}
		return nil
	})
	w.kill()
	if after := versions(); !slices.Equal(before, after) {
		t.Errorf("machines were written: %v, %v", before, after)
	}
}
