// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"time"
)

// A command takes a machine from what it does.
type command struct {
	// stage is what the machine says meanwhile.
	stage string
	// takes is how long that is.
	takes time.Duration
	// change is what is on the disk afterwards. An error leaves the disk as it is, and the machine goes on.
	change func(Content) (Content, error)
	// then is what comes after.
	then verdict
}

// A verdict is how a boot ended.
type verdict int

// The verdicts.
const (
	killed  verdict = iota // the power was cut
	again                  // reboot
	down                   // stay off
	goingOn                // it did not end
)

// errBusy says that a machine does something else already.
var errBusy = errors.New("another sequence is in progress")

// send gives the machine a command.
func (m *Machine) send(c command) error {
	select {
	case m.commands <- c:
		return nil
	default:
		return errBusy
	}
}

// obey does what a command says.
func (m *Machine) obey(ctx context.Context, c command) verdict {
	m.stage(c.stage)
	if !m.rack.environment.wait(ctx, c.takes) {
		return killed
	}
	if c.change != nil {
		if err := m.save(c.change); err != nil {
			m.say("", "%s failed: %v", c.stage, err)
			return goingOn
		}
	}
	return c.then
}

// errDiskFull is what a disk says that has no room.
var errDiskFull = errors.New("write to the disk: no space left on device")

// room says whether something can be added to the disk.
func (m *Machine) room() error {
	if m.turned().DiskFull {
		return errDiskFull
	}
	return nil
}

// write adds to the disk, if there is room.
func (m *Machine) write(change func(Content) (Content, error)) error {
	if err := m.room(); err != nil {
		return err
	}
	return m.save(change)
}

// save changes the disk. What needs no room of its own, as to count a boot or to wipe, does not ask for any.
func (m *Machine) save(change func(Content) (Content, error)) error {
	m.disk.Lock()
	defer m.disk.Unlock()
	content, err := m.options.Disk.Load()
	if err != nil {
		return err
	}
	if content, err = change(content); err != nil {
		return err
	}
	return m.options.Disk.Save(content)
}
