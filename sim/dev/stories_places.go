// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/machine"
)

// The pools that stories are about.
const (
	general = "general" // made by Cluster API
	gpu     = "gpu"     // made by Minos itself
)

// signerOutage has the signer down while a pool grows.
func signerOutage(ctx context.Context, s *Session) error {
	before, centre, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	plane := types.NamespacedName{Namespace: Namespace, Name: Cluster}
	count := before.Pool(gpu).Wanted
	s.tell("the signer of cluster %s is down", Cluster)
	centre.Kamaji.Break(plane, kamaji.Faults{SignerDown: true})
	story := func() error {
		if err := s.scale(ctx, gpu, count+1); err != nil {
			return err
		}
		if err := s.expect(ctx, "the new machine waits for its certificate, and says so", func(view View) error {
			return waitsAt(view, gpu, before, machine.StepTrustd)
		}); err != nil {
			return err
		}
		if err := s.expect(ctx, "the cluster says that the signer does not answer", func(view View) error {
			if cluster := view.Cluster(Cluster); cluster.Step != api.ConditionTrustReady {
				return fmt.Errorf("it waits for %s: %s", cluster.Step, cluster.Waits)
			}
			return view.unharmed(before.Machines)
		}); err != nil {
			return err
		}
		s.tell("the signer is back")
		centre.Kamaji.Break(plane, kamaji.Faults{})
		return s.expect(ctx, "the new machine joins, and no other has noticed anything", func(view View) error {
			if view.reached(gpu, machine.StepReady) != int(count+1) || !view.Ready() {
				return errors.New(waiting(view))
			}
			return view.unharmed(before.Machines)
		})
	}
	return s.undo(ctx, story(), func(ctx context.Context) error {
		centre.Kamaji.Break(plane, kamaji.Faults{})
		return s.scale(ctx, gpu, count)
	})
}

// waitsAt wants a machine of a pool that was not there before to stand at a step.
func waitsAt(view View, pool string, before View, step machine.Step) error {
	for _, one := range view.Of(pool) {
		if before.machine(one.Name) != nil {
			continue
		}
		for _, progress := range one.Steps {
			if progress.Step == step && progress.Reached.IsZero() && progress.Reason != "" {
				return nil
			}
		}
		return fmt.Errorf("machine %s has these steps: %v", one.Name, one.Steps)
	}
	return errors.New("no machine was made")
}

// dyingMachine has the host of a machine break.
func dyingMachine(ctx context.Context, s *Session) error {
	before, centre, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	victims := before.Of(gpu)
	if len(victims) == 0 {
		return errors.New("pool gpu has no machine that could die")
	}
	victim := victims[0].Name
	s.tell("the host of machine %s breaks", victim)
	if err := centre.Cloud.Kill(victim); err != nil {
		return err
	}
	if err := s.expect(ctx, "another machine takes its place", func(view View) error {
		if view.machine(victim) != nil || view.reached(gpu, machine.StepReady) != len(victims) || !view.Ready() {
			return errors.New(waiting(view))
		}
		return nil
	}); err != nil {
		return err
	}
	return s.expect(ctx, "neither its instance nor its Node is left", func(View) error { return s.vanished(ctx, centre, victim) })
}

// vanished wants nothing of a machine to be left: neither its instance nor its Node.
func (s *Session) vanished(ctx context.Context, centre *datacentre.DataCentre, name string) error {
	for _, instance := range centre.Cloud.Instances() {
		if instance.Name == name {
			return errors.New("the instance is there")
		}
	}
	nodes, err := s.nodes(ctx)
	if err == nil && slices.Contains(nodes, name) {
		err = errors.New("the Node is there")
	}
	return err
}

// nodes are the names of the tenant's Nodes.
func (s *Session) nodes(ctx context.Context) ([]string, error) {
	cluster := &api.TalosCluster{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Cluster}, cluster); err != nil {
		return nil, err
	}
	inside, err := tenant.New(s.client).Client(ctx, cluster)
	if err != nil {
		return nil, err
	}
	nodes := &corev1.NodeList{}
	if err := inside.List(ctx, nodes); err != nil {
		return nil, err
	}
	var all []string
	for _, node := range nodes.Items {
		all = append(all, node.Name)
	}
	return all, nil
}

// fullPlace has a pool grow in a place that has no room.
func fullPlace(ctx context.Context, s *Session) error {
	before, centre, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	count := before.Pool(gpu).Wanted
	s.tell("the cloud has no room but for what is there")
	centre.Keeper.Set(conduct.Behaviour{Quota: len(centre.Cloud.Instances())})
	story := func() error {
		if err := s.scale(ctx, gpu, count+1); err != nil {
			return err
		}
		if err := s.expect(ctx, "the pool says that there is no room, and no other pool is touched", func(view View) error {
			return errors.Join(view.says(gpu, "quota"), view.others(gpu), view.unharmed(before.Machines))
		}); err != nil {
			return err
		}
		s.tell("there is room again")
		centre.Keeper.Set(conduct.Behaviour{})
		return s.expect(ctx, "the pool goes on by itself", func(view View) error {
			if view.reached(gpu, machine.StepReady) != int(count+1) || !view.Ready() {
				return errors.New(waiting(view))
			}
			return view.unharmed(before.Machines)
		})
	}
	return s.undo(ctx, story(), func(ctx context.Context) error {
		centre.Keeper.Set(conduct.Behaviour{})
		return s.scale(ctx, gpu, count)
	})
}
