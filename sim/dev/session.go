// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/sim/machine"
)

// Options are one environment.
type Options struct {
	// Folder keeps it, so that the next start goes on with it.
	Folder string
	// Operator is the operator's program. Without it, it is looked for as all programs are.
	Operator string
	// Speed is how much faster than life time passes.
	Speed float64
	// Tell is told what happens, one at a time, and Show how far all is whenever that has changed. Either may be missing.
	Tell func(Line)
	Show func(Progress)
}

// A Progress is how far all is.
type Progress struct {
	Parts []PartProgress
	View  View
	Speed float64
	Since time.Duration // the start
}

// A PartProgress is how far a part is.
type PartProgress struct {
	Part estate.Part
	Text string
}

// A Phase is a part of the way to Ready.
type Phase struct {
	Name string        `json:"phase"`
	Took time.Duration `json:"took"`
}

// A Session is the environment while it runs.
type Session struct {
	options Options
	begin   time.Time
	estate  *estate.Estate
	client  client.Client
	phases  []Phase
	started time.Time // when the parts were; zero once the way to Ready has been counted

	mutex  sync.Mutex // of what is told and shown
	parts  []PartProgress
	view   View
	closed bool
}

// deadline is how long a boot may take before a machine gives it up. With compressed time a busy computer would miss the one of
// Talos, and what a story wants to show is what is waited for.
const deadline = 10000 * time.Hour

// Open starts everything, or resumes what the folder keeps, and declares the tenant's cluster if it is new.
func Open(ctx context.Context, options Options) (*Session, error) {
	if options.Tell == nil {
		options.Tell = func(Line) {}
	}
	if options.Show == nil {
		options.Show = func(Progress) {}
	}
	s := &Session{options: options, begin: time.Now()}
	for _, part := range estate.Parts() {
		s.parts = append(s.parts, PartProgress{Part: part})
	}
	var err error
	s.estate, err = estate.Prepare(estate.Options{
		Folder: options.Folder, Operator: options.Operator, Speed: options.Speed, Durations: machine.Durations{Deadline: deadline}, Tell: s.hear,
	})
	if err != nil {
		return nil, err
	}
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go s.showing(starting)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.estate.Close())
	}
	return s, nil
}

// showing shows how the time goes while nothing else happens.
func (s *Session) showing(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mutex.Lock()
		if ctx.Err() == nil {
			s.options.Show(s.progress())
		}
		s.mutex.Unlock()
	}
}

// start starts the parts and declares.
func (s *Session) start(ctx context.Context) (err error) {
	for _, part := range estate.Parts() {
		begin := time.Now()
		if part == estate.Operator {
			s.awaitPlanes(ctx)
		}
		if err := s.estate.Start(ctx, part); err != nil {
			return err
		}
		s.phases = append(s.phases, Phase{Name: titles[part], Took: time.Since(begin)})
		if s.client, err = s.estate.Client(); err != nil {
			return err
		}
	}
	s.started = time.Now()
	return s.declare(ctx)
}

// comeBack is how long control planes that were there before may take to answer again.
const comeBack = time.Minute

// awaitPlanes waits until the control planes that were there before answer again. An operator that starts before them finds them
// dead, says so, and looks again half a minute later.
func (s *Session) awaitPlanes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, comeBack)
	defer cancel()
	clusters := &api.TalosClusterList{}
	if err := s.client.List(ctx, clusters); err != nil {
		return // then there is nothing to wait for
	}
	for _, cluster := range clusters.Items {
		if at := cluster.Status.Endpoint; at != nil && cluster.Spec.ControlPlane.Kamaji != nil {
			for _, port := range []int{hosted.Port, hosted.SignerPort} {
				s.awaitPort(ctx, net.JoinHostPort(at.Host, strconv.Itoa(port)))
			}
		}
	}
}

// awaitPort waits until somebody listens at an address, or the context ends.
func (s *Session) awaitPort(ctx context.Context, address string) {
	var dialer net.Dialer
	for {
		if connection, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			_ = connection.Close()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// titles are the parts in words.
var titles = map[estate.Part]string{
	estate.Management: "management cluster", estate.ClusterAPI: "Cluster API", estate.Places: "places", estate.Operator: "operator",
}

// Title is a part in words.
func Title(part estate.Part) string { return titles[part] }

// hear is told what happens to parts.
func (s *Session) hear(part estate.Part, text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return // that all ends is what was asked for
	}
	for at := range s.parts {
		if s.parts[at].Part == part {
			s.parts[at].Text = text
		}
	}
	s.options.Tell(Line{After: time.Since(s.begin), What: titles[part], Text: text})
	s.options.Show(s.progress())
}

// Say tells something that is not about one object.
func (s *Session) Say(what, text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.options.Tell(Line{After: time.Since(s.begin), What: what, Text: text})
}

// progress is how far all is, for whoever has the mutex.
func (s *Session) progress() Progress {
	return Progress{Parts: append([]PartProgress{}, s.parts...), View: s.view, Speed: s.options.Speed, Since: time.Since(s.begin)}
}

// Close ends everything, and returns when nothing is left. What the folder keeps stays.
func (s *Session) Close() error {
	s.mutex.Lock()
	s.closed = true
	s.mutex.Unlock()
	return s.estate.Close()
}

// Estate is what runs.
func (s *Session) Estate() *estate.Estate { return s.estate }

// Phases are the parts of the way to Ready so far.
func (s *Session) Phases() []Phase { return s.phases }

// Since is how long it has been since the start.
func (s *Session) Since() time.Duration { return time.Since(s.begin) }
