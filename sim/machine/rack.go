// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"minos.dev/minos/talos/extension"
)

// A Rack holds machines and does for them what need not be done by each: it watches the clock, and shares connections.
type Rack struct {
	environment Environment
	catalogue   *extension.Catalogue
	schedule    *schedule
	bootstraps  bootstraps
	library     library
	// turns lets only so many machines ask to be signed at once: a thousand that start together would else all be too late.
	turns chan struct{}

	context context.Context // of all its machines
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mutex    sync.Mutex
	machines map[string]*Machine
	knobs    Knobs
}

// NewRack returns an empty rack.
func NewRack(environment Environment) (*Rack, error) {
	catalogue, err := extension.Load()
	if err != nil {
		return nil, err
	}
	rack := &Rack{environment: environment.filled(), catalogue: catalogue, schedule: newSchedule(), turns: make(chan struct{}, atOnce), machines: map[string]*Machine{}}
	rack.context, rack.cancel = context.WithCancel(context.Background())
	rack.work.Go(func() { rack.schedule.watch(rack.context) })
	return rack, nil
}

// Add puts a machine into the rack and switches its power on, unless its disk says that it was shut down.
func (r *Rack) Add(options Options) (*Machine, error) {
	if options.Name == "" || options.Disk == nil {
		return nil, errors.New("a machine needs a name and a disk")
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.context.Err() != nil {
		return nil, errors.New("the rack is closed")
	}
	if r.machines[options.Name] != nil {
		return nil, fmt.Errorf("there is a machine %q already", options.Name)
	}
	m, err := newMachine(r, options.filled())
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", options.Name, err)
	}
	r.machines[options.Name] = m
	m.start(false)
	return m, nil
}

// Machine returns a machine, or nil.
func (r *Rack) Machine(name string) *Machine {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.machines[name]
}

// Machines returns all machines by name.
func (r *Rack) Machines() []*Machine {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.SortedFunc(maps.Values(r.machines), func(a, b *Machine) int { return strings.Compare(a.options.Name, b.options.Name) })
}

// Remove cuts a machine's power and takes it out. Its disk is left to the caller, and its Node to whoever looks after Nodes.
func (r *Rack) Remove(name string) {
	r.mutex.Lock()
	m := r.machines[name]
	delete(r.machines, name)
	r.mutex.Unlock()
	if m != nil {
		m.Kill()
		m.gate.close()
	}
}

// Set turns knobs for all machines.
func (r *Rack) Set(turn func(*Knobs)) {
	r.mutex.Lock()
	turn(&r.knobs)
	r.mutex.Unlock()
	for _, m := range r.Machines() {
		m.wake()
	}
}

// Close cuts the power of all machines and returns when nothing of the rack runs.
func (r *Rack) Close() {
	r.cancel()
	for _, m := range r.Machines() {
		m.Kill()
		m.gate.close()
	}
	r.work.Wait()
	r.bootstraps.close()
}

// turn waits for a turn, and returns what ends it. It says no when the context ends before.
func (r *Rack) turn(ctx context.Context) (func(), bool) {
	select {
	case r.turns <- struct{}{}:
		return func() { <-r.turns }, true
	case <-ctx.Done():
		return nil, false
	}
}

// common returns the knobs of all machines.
func (r *Rack) common() Knobs {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.knobs
}

// tell logs an event.
func (r *Rack) tell(event Event) {
	event.Time = time.Now()
	r.environment.Log(event)
}
