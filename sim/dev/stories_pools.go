// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/machine"
)

// badPatch makes machines ask another cluster for their certificates: nobody would join. goodPatch takes it back.
const (
	badPatch  = `{"spec":{"config":{"patches":[{"machine":{"token":"not-the-token-of-this-pool"}}]}}}`
	goodPatch = `{"spec":{"config":null}}`
)

// badLayer gives a pool a layer that would break its machines: first through the guard, and then past it.
func badLayer(ctx context.Context, s *Session) error {
	before, _, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	s.tell("a layer of pool %s replaces the token that its machines join with", general)
	switch err := s.change(ctx, general, badPatch); {
	case err == nil:
		return errors.Join(errors.New("the guard did not refuse it"), s.change(ctx, general, goodPatch))
	case !strings.Contains(err.Error(), "machine.token"):
		return fmt.Errorf("the guard did not name the field: %w", err)
	}
	s.Say("as expected", "the guard refuses it at the door, and names the field")
	s.tell("the operator is away, and its guard with it: now it gets in")
	s.estate.Kill(estate.Operator)
	story := func() error {
		if err := s.change(ctx, general, badPatch); err != nil {
			return err
		}
		if err := s.estate.Start(ctx, estate.Operator); err != nil {
			return err
		}
		return s.expect(ctx, "the pool says what is wrong, no other pool is touched, and all machines stay as they are", func(view View) error {
			return errors.Join(view.says(general, api.ConditionConfigurationReady, "machine.token"), view.others(general), view.unharmed(before.Machines))
		})
	}
	return s.undo(ctx, story(), func(ctx context.Context) error {
		s.tell("the layer is taken back")
		return errors.Join(s.estate.Start(ctx, estate.Operator), s.change(ctx, general, goodPatch))
	})
}

// annex is a gateway whose role forgot the configuration of its service.
const annex = `
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata:
  name: forgetful-gateway
spec:
  description: A gateway whose service has no configuration.
  extends: compute
  extensions: [tailscale]
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata:
  name: annex
  namespace: tenant-shop
spec:
  clusterName: shop
  role: forgetful-gateway
  locationRef:
    kind: ClusterLocation
    name: cloud
  replicas: 1
  machine:
    sim: {}
`

// stuckService has a machine whose boot waits for the configuration of a service.
func stuckService(ctx context.Context, s *Session) error {
	before, _, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	objects, err := estate.Parse([]byte(annex))
	if err != nil {
		return err
	}
	s.tell("pool annex is a gateway, and its role forgot to configure the service tailscale")
	story := func() error {
		for _, object := range objects {
			if err := client.IgnoreAlreadyExists(s.client.Create(ctx, object)); err != nil {
				return err
			}
		}
		return s.expect(ctx, "the pool names the service, although the Node is Ready", func(view View) error {
			if view.reached("annex", machine.StepCNI) == 0 {
				return errors.New("the Node is not Ready: " + waiting(view))
			}
			return errors.Join(view.says("annex", "tailscale"), view.others("annex"), view.unharmed(before.Machines))
		})
	}
	return s.undo(ctx, story(), func(ctx context.Context) error {
		s.tell("pool annex is deleted")
		var failed []error
		for at := len(objects) - 1; at >= 0; at-- {
			failed = append(failed, client.IgnoreNotFound(s.client.Delete(ctx, objects[at])))
		}
		return errors.Join(append(failed, s.Await(ctx, expectWithin, func(view View) error {
			if view.Pool("annex").Name != "" || len(view.Of("annex")) > 0 {
				return errors.New("pool annex is still there")
			}
			return nil
		}))...)
	})
}

// A growth is pools that are to have more machines, and those that were made for that.
type growth struct {
	before View
	wanted map[string]int32
	made   map[string]bool
}

// check wants no more machines to be made than are wanted.
func (g growth) check(view View) error {
	for _, one := range view.Machines {
		if g.before.machine(one.Name) == nil {
			g.made[one.Name] = true
		}
	}
	if len(g.made) > len(g.wanted) {
		return fmt.Errorf("machines were made that nobody wants: %v", g.made)
	}
	return nil
}

// done wants all of it to be Ready, and nobody to have noticed who was there before.
func (g growth) done(view View) error {
	if err := errors.Join(g.check(view), view.unharmed(g.before.Machines)); err != nil {
		return err
	}
	if !view.Ready() || len(view.Machines) != len(g.before.Machines)+len(g.wanted) {
		return errors.New(waiting(view))
	}
	return nil
}

// operatorKilled kills the operator while pools grow.
func operatorKilled(ctx context.Context, s *Session) error {
	before, _, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	g := growth{before, map[string]int32{general: before.Pool(general).Wanted + 1, gpu: before.Pool(gpu).Wanted + 1}, map[string]bool{}}
	story := func() error {
		for pool, count := range g.wanted {
			if err := s.scale(ctx, pool, count); err != nil {
				return err
			}
		}
		for life := range 3 {
			if err := s.killOperator(ctx, g, life); err != nil {
				return err
			}
		}
		return s.expect(ctx, "all is Ready, no machine was made twice, and none that was there has noticed", g.done)
	}
	return s.undo(ctx, story(), func(ctx context.Context) error {
		return errors.Join(s.estate.Start(ctx, estate.Operator),
			s.scale(ctx, general, before.Pool(general).Wanted), s.scale(ctx, gpu, before.Pool(gpu).Wanted))
	})
}

// killOperator kills the operator once it has come a step further, and starts it again.
func (s *Session) killOperator(ctx context.Context, g growth, life int) error {
	err := s.expect(ctx, "it has begun", func(view View) error { return errors.Join(g.check(view), s.begun(ctx, life)) })
	if err != nil {
		return err
	}
	s.tell("the operator is killed")
	s.estate.Kill(estate.Operator)
	return s.estate.Start(ctx, estate.Operator)
}

// begun wants the operator to have come further in each life: to have seen the change, to have made a machine for it, and to have
// said that the machine is on its way.
func (s *Session) begun(ctx context.Context, life int) error {
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: gpu}}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
		return err
	}
	machines := &api.TalosMachineList{}
	if err := s.client.List(ctx, machines, client.InNamespace(Namespace)); err != nil {
		return err
	}
	switch {
	case life > 0 && len(machines.Items) < int(*pool.Spec.Replicas):
		return errors.New("no machine was made")
	case life > 1 && pool.Status.ObservedGeneration != pool.Generation:
		return errors.New("the change was not looked at")
	}
	return nil
}
