// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/image"
)

// resume goes on with an instance from wherever the last run left it.
func (c *Cloud) resume(i *instance) error {
	if c.read(i).last().State == backend.Deleting {
		return c.unmake(i)
	}
	if err := c.furnish(i); err != nil {
		return err
	}
	switch found := c.read(i); found.last().State {
	case backend.Creating:
		// The time that it was made for already counts.
		passed := c.options.Now().Sub(found.last().At)
		c.after(c.starting(passed), func() { c.finish(i) })
	case backend.Running:
		i.making.Lock()
		defer i.making.Unlock()
		return c.rack(i, found)
	}
	return nil
}

// starting is how long an instance is made yet.
func (c *Cloud) starting(passed time.Duration) time.Duration {
	start := c.options.Keeper.Behaviour().Start.Duration
	if start <= 0 || c.options.Keeper.Scaled(start) <= passed {
		return 0
	}
	// What has passed on the clock is a part of the whole in both times.
	share := float64(passed) / float64(c.options.Keeper.Scaled(start))
	return time.Duration(float64(start) * (1 - share))
}

// Why an instance cannot be made.
var (
	errNoAddress = errors.New("there is no address left: delete an instance")
	errDeleted   = errors.New("somebody deleted it meanwhile")
)

// furnish gives an instance its address and its disk, or finds those that it has.
func (c *Cloud) furnish(i *instance) error {
	i.making.Lock()
	defer i.making.Unlock()
	if c.read(i).isLeaving() {
		return errDeleted
	}
	address, err := c.take(c.read(i).Name)
	if err != nil {
		return err
	}
	if had := c.read(i).Address; had == nil || *had != address {
		if err := c.note(i, func(r record) record { r.Address = &address; return r }); err != nil {
			return err
		}
	}
	found := c.read(i)
	boots, err := c.options.Images(found.image())
	if err != nil {
		return err
	}
	if err := c.cut("make the disk"); err != nil {
		return err
	}
	i.disk, err = c.books.disk(found.ID, boots)
	return err
}

// image is what the instance boots, in the words of the contract.
func (r record) image() backend.Image {
	return backend.Image{URL: r.Image.URL, Version: api.TalosVersion(r.Image.Version), Schematic: r.Image.Schematic}
}

// take finds an address for a machine.
func (c *Cloud) take(name string) (netip.Addr, error) {
	if err := c.cut("take the address"); err != nil {
		return netip.Addr{}, err
	}
	if c.options.Addresses == nil {
		return everywhere, nil
	}
	address, err := c.options.Addresses.Take(name)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w (%w)", errNoAddress, err)
	}
	return address, nil
}

// finish gives power to an instance that was made, or lets it fail.
func (c *Cloud) finish(i *instance) {
	i.making.Lock()
	defer i.making.Unlock()
	found := c.read(i)
	if found.last().State != backend.Creating {
		return // it was deleted, or died, meanwhile
	}
	fails := found.Fails
	if fails == "" {
		err := c.rack(i, found)
		if errors.Is(err, errStopped) {
			return
		}
		if err != nil {
			fails = err.Error()
		}
	}
	if fails != "" {
		c.settle(i, backend.Failed, fails)
		return
	}
	c.settle(i, backend.Running, "")
}

// settle is a turn whose failure nobody waits for. The books then still say what was before, and the next start goes on there.
func (c *Cloud) settle(i *instance, state backend.State, message string) {
	if err := c.turn(i, state, message); err != nil {
		c.tell(c.read(i).Name, "the books could not be written: %v", err)
	}
}

// rack puts the machine of an instance into the rack, which gives it power. The instance is being made.
func (c *Cloud) rack(i *instance, found record) error {
	if err := c.cut("add the machine"); err != nil {
		return err
	}
	port := 0 // a free one, because all are at the same address
	if c.options.Addresses != nil {
		port = constants.ApidPort
	}
	_, err := c.options.Rack.Add(found.machine(i.disk, port))
	return err
}

// machine is what a record is in the rack.
func (r record) machine(disk machine.Disk, port int) machine.Options {
	return machine.Options{
		Name: r.Name, Disk: disk, UserData: r.UserData, Platform: image.PlatformOf(api.MemberSim), Hostname: r.Name,
		Addresses: []netip.Addr{*r.Address}, CPUs: r.Size.CPUs, MemoryMiB: r.Size.MemoryMiB, Devices: r.devices(),
		// The cloud does here what a cloud's own controller does with Nodes: it is the only one who knows the ID.
		ProviderID: r.providerID(),
		Listen:     net.JoinHostPort(r.Address.String(), strconv.Itoa(port)),
	}
}

// unmake removes an instance with all that was made for it, the record last.
func (c *Cloud) unmake(i *instance) error {
	i.making.Lock()
	defer i.making.Unlock()
	found := c.read(i)
	if found.last().State == "" {
		return nil // somebody else did it
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"remove the machine", func() error { c.options.Rack.Remove(found.Name); return nil }},
		{"wipe the disk", func() error { return c.books.wipe(found.ID) }},
		{"give the address back", func() error { return c.give(found.Name) }},
	}
	for _, step := range steps {
		if err := c.cut(step.name); err != nil {
			return err
		}
		if err := step.do(); err != nil {
			return err
		}
	}
	return c.forget(i)
}

// give returns an address.
func (c *Cloud) give(name string) error {
	if c.options.Addresses == nil {
		return nil
	}
	return c.options.Addresses.Give(name)
}

// forget takes an instance out of the books. Reads that are late show it yet.
func (c *Cloud) forget(i *instance) error {
	now := c.options.Now()
	if err := c.strike(i, now); err != nil {
		return err
	}
	c.tell(c.read(i).Name, "is gone")
	return nil
}

// strike removes the record, and keeps in memory that there was one.
func (c *Cloud) strike(i *instance, now time.Time) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.books.remove(i.record.ID); err != nil {
		return err
	}
	i.record = i.record.with(now, "", "")
	i.record.UserData = nil
	delete(c.names, i.record.Name)
	return nil
}

// leave removes an instance that is being deleted, and tries again if it cannot: the caller was told that it will be gone.
func (c *Cloud) leave(i *instance) {
	err := c.unmake(i)
	if err == nil || errors.Is(err, errStopped) {
		return
	}
	c.tell(c.read(i).Name, "cannot be removed yet: %v", err)
	c.after(time.Second, func() { c.leave(i) })
}
