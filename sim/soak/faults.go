// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/soak/story"
)

// links are those that a story cuts.
var links = map[string]door.Link{
	story.ToManagement: door.ToManagement, story.ToPlace: door.ToPlace, story.ToTenant: door.ToTenant, story.ToSigner: door.ToSigner, story.ToServer: door.ToServer,
}

// suffer has something go wrong for as long as the deed says, and mends it. What cannot go wrong now, because what it happens to is
// away, does not.
func (s *Stage) suffer(ctx context.Context, deed story.Deed) error {
	s.count(deed)
	switch deed.Kind {
	case story.Kill:
		s.Estate.Kill(estate.Part(deed.What))
		rest(ctx, deed.For)
		return s.start(ctx, estate.Part(deed.What))
	case story.StopSigner:
		s.breakPlane(deed.Cluster, kamaji.Faults{SignerDown: true})
		rest(ctx, deed.For)
		s.breakPlane(deed.Cluster, kamaji.Faults{})
	case story.KillTenant:
		s.breakPlane(deed.Cluster, kamaji.Faults{ServerDown: true})
		rest(ctx, deed.For)
		s.breakPlane(deed.Cluster, kamaji.Faults{})
	case story.Cut:
		state := door.Shut
		if deed.Silent {
			state = door.Silent
		}
		s.doors.Set(links[deed.What], state)
		rest(ctx, deed.For)
		s.doors.Set(links[deed.What], door.Open)
	case story.Misbehave:
		s.behave(behaviour(deed.What))
		rest(ctx, deed.For)
		s.behave(conduct.Behaviour{})
	case story.JumpClock:
		s.ahead.Add(int64(time.Duration(deed.Number) * time.Minute))
	case story.KillMachine:
		return s.killMachine(ctx, deed)
	case story.Meddle:
		return s.meddle(ctx, deed)
	default:
		return fmt.Errorf("%s is nothing that goes wrong", deed)
	}
	return nil
}

// count counts a fault, by its kind and what it happens to.
func (s *Stage) count(deed story.Deed) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	name := string(deed.Kind)
	if deed.What != "" {
		name += ": " + deed.What
	}
	s.summary.Faults[name]++
}

// rest lets time pass.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// start starts a part, again and again until it runs: those that it needs may be away.
func (s *Stage) start(ctx context.Context, part estate.Part) error {
	for {
		err := s.Estate.Start(ctx, part)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(again):
		}
	}
}

// breakPlane sets what is wrong with a control plane, if there is somebody to tell.
func (s *Stage) breakPlane(cluster string, faults kamaji.Faults) {
	if centre := s.Estate.Centre(); centre != nil {
		centre.Kamaji.Break(keyOf(cluster), faults)
	}
}

// behave sets how the places behave, if they are there.
func (s *Stage) behave(how conduct.Behaviour) {
	if centre := s.Estate.Centre(); centre != nil {
		centre.Keeper.Set(how)
	}
}

// killMachine lets a machine die.
func (s *Stage) killMachine(ctx context.Context, deed story.Deed) error {
	trying, cancel := context.WithTimeout(ctx, calling)
	defer cancel()
	found, err := s.machinesOf(trying, deed.Cluster, deed.Pool)
	centre := s.Estate.Centre()
	if err != nil || len(found) == 0 || centre == nil {
		return nil //nolint:nilerr // whoever cannot be asked has nothing that could die
	}
	chosen := found[deed.Number%len(found)]
	namespace, name := chosen.GetNamespace(), chosen.GetName()
	if chosen.GetObjectKind().GroupVersionKind().Kind != machineKind.Kind {
		s.died(chosen, func() bool { return centre.Cloud.Kill(name) == nil }) // one that is not made yet cannot die
	} else if centre.KubeVirt.Machine(namespace, name) != nil {
		s.died(chosen, func() bool { return true })
		centre.KubeVirt.Kill(namespace, name)
	}
	return nil
}

// died notes that a machine was killed, if it was. Nothing that is seen meanwhile is judged before.
func (s *Stage) died(machine client.Object, kill func() bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if kill() {
		s.history.Died(string(machine.GetUID()))
	}
}

// mend ends all that is wrong, and starts what does not run.
func (s *Stage) mend(ctx context.Context) error {
	for _, link := range links {
		s.doors.Set(link, door.Open)
	}
	for _, part := range estate.Parts() {
		if err := s.start(ctx, part); err != nil {
			return err
		}
	}
	s.behave(conduct.Behaviour{})
	for _, cluster := range story.ClusterNames() {
		s.breakPlane(cluster, kamaji.Faults{})
	}
	return nil
}
