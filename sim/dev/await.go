// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
	"minos.dev/minos/sim/machine"
)

// A NotReady is that not all became Ready in time, and why not, in the words of 'minos doctor'.
type NotReady struct {
	Within   time.Duration
	Findings []doctor.Finding
	// View is how far all was.
	View View
}

// Error is it in one line: what the operator says, or else the first machine that is not there yet.
func (n *NotReady) Error() string {
	text := fmt.Sprintf("not all is Ready after %s", n.Within)
	for _, finding := range n.Findings {
		if finding.Severity != doctor.Note {
			return fmt.Sprintf("%s: %s %s stands at step %s: %s", text, finding.Kind, finding.Name, finding.Step, finding.Cause)
		}
	}
	for _, one := range n.View.Machines {
		if progress, stands := one.stands(); stands {
			return fmt.Sprintf("%s: machine %s stands at step %s: %s", text, one.Name, progress.Step, cmp.Or(progress.Reason, "it is on its way"))
		}
	}
	return text + ": machines that the pools want have not been made yet"
}

// AwaitReady waits until all is Ready, and tells on the way. Its error is a *NotReady if it is not in time.
func (s *Session) AwaitReady(ctx context.Context, within time.Duration) error {
	begin := s.started
	var plane time.Duration
	err := s.Await(ctx, within, func(view View) error {
		if plane == 0 && view.Cluster(Cluster).Ready {
			plane = time.Since(begin)
		}
		if !view.Ready() {
			return errors.New("not all is Ready")
		}
		return nil
	})
	if err == nil && !begin.IsZero() {
		s.phases = append(s.phases, Phase{Name: "hosted control plane", Took: plane}, Phase{Name: "machines", Took: time.Since(begin) - plane})
		s.started = time.Time{}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	seen, view, err := s.look(ctx)
	if err != nil {
		return fmt.Errorf("not all is Ready after %s, and the management cluster does not answer: %w", within, err)
	}
	return &NotReady{Within: within, Findings: doctor.Findings(seen, time.Now()), View: view}
}

// lookEvery is how often somebody who waits looks.
const lookEvery = 200 * time.Millisecond

// Await waits until something holds of what is seen, and tells what happens meanwhile. Its error is what did not hold.
func (s *Session) Await(ctx context.Context, within time.Duration, holds func(View) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := errors.New("nothing was seen")
	for {
		view, err := s.follow(ctx)
		if err == nil {
			err = holds(view)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return last
		}
	}
}

// Follow tells what happens until the context ends.
func (s *Session) Follow(ctx context.Context) {
	_ = s.Await(ctx, 365*24*time.Hour, func(View) error { return errors.New("somebody may still do something") }) // which ends with the context
}

// follow looks once, and tells what is new.
func (s *Session) follow(ctx context.Context) (View, error) {
	_, view, err := s.look(ctx)
	if err != nil {
		return View{}, err // which the API server's end may be: who waits looks again
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	view = view.carrying(s.view)
	for _, line := range happened(s.view, view, s.begin) {
		s.options.Tell(line)
	}
	s.view = view
	s.options.Show(s.progress())
	return view, nil
}

// look reads what there is to see.
func (s *Session) look(ctx context.Context) (doctor.Seen, View, error) {
	clusters, pools, machines := &api.TalosClusterList{}, &api.NodePoolList{}, &api.TalosMachineList{}
	locations, offered := &api.LocationList{}, &api.ClusterLocationList{}
	for _, list := range []client.ObjectList{clusters, pools, machines, locations, offered} {
		if err := s.client.List(ctx, list); err != nil {
			return doctor.Seen{}, View{}, err
		}
	}
	var running []machine.Status
	if centre := s.estate.Centre(); centre != nil {
		for _, one := range centre.Rack.Machines() {
			running = append(running, one.Status())
		}
	}
	seen := doctor.Seen{
		Clusters: clusters.Items, Pools: pools.Items, Machines: machines.Items, Locations: locations.Items, ClusterLocations: offered.Items,
	}
	return seen, viewOf(seen, running, time.Now()), nil
}
