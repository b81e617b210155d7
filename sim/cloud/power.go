// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"fmt"
	"slices"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
)

// Machine returns the machine of an instance, or nil if it has no power.
func (c *Cloud) Machine(name string) *machine.Machine {
	c.mutex.Lock()
	i := c.names[name]
	c.mutex.Unlock()
	if i == nil {
		return nil
	}
	return c.options.Rack.Machine(name)
}

// Kill lets an instance die: it has failed, has no power, and is there until somebody deletes it. No keeper is asked.
func (c *Cloud) Kill(name string) error {
	return c.switching(name, backend.Failed, []backend.State{backend.Creating, backend.Running, backend.Stopped}, c.unplug("the host of the instance broke"))
}

// Stop cuts the power of an instance. No keeper is asked.
func (c *Cloud) Stop(name string) error {
	return c.switching(name, backend.Stopped, []backend.State{backend.Running}, c.unplug("it was switched off"))
}

// Start gives an instance power again. No keeper is asked.
func (c *Cloud) Start(name string) error {
	return c.switching(name, backend.Running, []backend.State{backend.Running, backend.Stopped}, c.plug)
}

// unplug is how the power is cut: the books first, so that the next start does not give it back.
func (c *Cloud) unplug(message string) func(*instance, backend.State) error {
	return func(i *instance, to backend.State) error {
		if err := c.turn(i, to, message); err != nil {
			return err
		}
		c.options.Rack.Remove(c.read(i).Name)
		return nil
	}
}

// plug is how the power is given: a machine that shut itself down is in the rack, one that was switched off is not.
func (c *Cloud) plug(i *instance, to backend.State) error {
	found := c.read(i)
	if found.last().State != to {
		if err := c.turn(i, to, ""); err != nil {
			return err
		}
	}
	if c.options.Rack.Machine(found.Name) == nil {
		if err := c.rack(i, found); err != nil {
			return err
		}
	}
	c.options.Rack.Machine(found.Name).Power()
	return nil
}

// switching changes the power of an instance that is in one of some states.
func (c *Cloud) switching(name string, to backend.State, from []backend.State, do func(*instance, backend.State) error) error {
	if !c.begin() {
		return errStopped
	}
	defer c.work.Done()
	c.mutex.Lock()
	i := c.names[name]
	c.mutex.Unlock()
	if i == nil {
		return fmt.Errorf("there is no instance %q", name)
	}
	i.making.Lock()
	defer i.making.Unlock()
	if state := c.read(i).last().State; !slices.Contains(from, state) {
		return fmt.Errorf("the instance %s is %s and cannot become %s", name, state, to)
	}
	return do(i, to)
}
