// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// The stages of a machine, in Talos's words where it has one.
const (
	stageOff          = "off"
	stageBooting      = "booting"
	stageInstalling   = "installing"
	stageMaintenance  = "maintenance"
	stageRunning      = "running"
	stageRebooting    = "rebooting"
	stageShuttingDown = "shutting down"
	stageResetting    = "resetting"
	stageUpgrading    = "upgrading"
)

// A Machine is one simulated machine in a rack.
type Machine struct {
	rack    *Rack
	options Options
	board   *board
	gate    *gate

	// poke says that knobs or the configuration changed; commands that the machine shall do something else than run.
	poke     chan struct{}
	commands chan command

	mutex  sync.Mutex
	knobs  Knobs
	cancel context.CancelFunc // of the power
	off    chan struct{}      // closed when nothing of the machine runs

	disk  sync.Mutex           // between reading the disk and writing it
	shown atomic.Pointer[boot] // whose resources are shown; nil for none
}

// newMachine returns a machine without power. Its API has its address from now on, so that it keeps it.
func newMachine(rack *Rack, options Options) (*Machine, error) {
	gate, err := newGate(options.Listen)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		rack: rack, options: options, board: newBoard(options.Name), gate: gate, knobs: options.Knobs,
		poke: make(chan struct{}, 1), commands: make(chan command, 1), off: make(chan struct{}), cancel: func() {},
	}
	close(m.off)
	m.board.write(func(s *Status) bool { s.API = gate.address(); return true })
	return m, nil
}

// Power switches the power on. A machine that runs goes on running.
func (m *Machine) Power() { m.start(true) }

// start runs the machine. One that was shut down starts only if its power is switched on by hand.
func (m *Machine) start(byHand bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	select {
	case <-m.off:
	default:
		return
	}
	if content, err := m.options.Disk.Load(); err == nil && content.Off && !byHand {
		return
	}
	ctx, cancel := context.WithCancel(m.rack.context)
	m.cancel, m.off = cancel, make(chan struct{})
	off := m.off
	m.rack.work.Go(func() {
		defer close(off)
		defer cancel()
		for ctx.Err() == nil && m.boot(ctx) == again {
		}
		m.board.write(func(s *Status) bool { s.Stage = stageOff; return true })
	})
}

// Kill cuts the power: nothing is cleaned up, and what was not saved is lost. It returns when the machine is dead.
func (m *Machine) Kill() {
	m.mutex.Lock()
	cancel, off := m.cancel, m.off
	m.mutex.Unlock()
	cancel()
	<-off
}

// Name is what the rack calls it.
func (m *Machine) Name() string { return m.options.Name }

// Status says what the machine is doing.
func (m *Machine) Status() Status {
	status, _ := m.board.read()
	return status
}

// Wait returns when something is true of the machine. Its error says what was not, and where the machine stood.
func (m *Machine) Wait(ctx context.Context, holds func(Status) bool) (Status, error) {
	for {
		status, changed := m.board.read()
		if holds(status) {
			return status, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			stopped, _ := status.Stopped()
			return status, fmt.Errorf("machine %s is %s and stands at step %q (%s): %w", m.options.Name, status.Stage, stopped.Step, stopped.Reason, ctx.Err())
		}
	}
}

// WaitFor returns when a step is reached.
func (m *Machine) WaitFor(ctx context.Context, step Step) error {
	_, err := m.Wait(ctx, func(s Status) bool { return s.Reached(step) })
	return err
}

// Set turns the machine's own knobs.
func (m *Machine) Set(turn func(*Knobs)) {
	m.mutex.Lock()
	turn(&m.knobs)
	m.mutex.Unlock()
	m.wake()
}

// wake lets the machine look again at what it depends on.
func (m *Machine) wake() {
	select {
	case m.poke <- struct{}{}:
	default: // it will look anyway
	}
}

// turned returns the knobs as they stand.
func (m *Machine) turned() Knobs {
	common := m.rack.common()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return common.and(m.knobs)
}

// note changes the status, and shows it to those who watch. It says whether the change was one.
func (m *Machine) note(change func(*Status) bool) bool {
	if !m.board.write(change) {
		return false
	}
	if b := m.shown.Load(); b != nil {
		b.publish()
	}
	return true
}

// stage says what the machine does as a whole.
func (m *Machine) stage(stage string) {
	if m.note(func(s *Status) bool { changed := s.Stage != stage; s.Stage = stage; return changed }) {
		m.say("", "%s", stage)
	}
}

// say logs.
func (m *Machine) say(step Step, format string, args ...any) {
	m.rack.tell(Event{Machine: m.options.Name, Step: step, Message: fmt.Sprintf(format, args...)})
}

// reach marks a step.
func (m *Machine) reach(step Step) {
	if m.note(func(s *Status) bool { return s.reach(step, time.Now()) }) {
		m.rack.tell(Event{Machine: m.options.Name, Step: step, Reached: true, Message: "reached"})
	}
}

// stop says why a step is not reached.
func (m *Machine) stop(step Step, reason string) {
	if m.note(func(s *Status) bool { return s.stop(step, reason) }) {
		m.say(step, "%s", reason)
	}
}

// lose takes a step back.
func (m *Machine) lose(step Step, reason string) {
	if m.note(func(s *Status) bool { return s.lose(step, reason) }) {
		m.say(step, "%s", reason)
	}
}
