// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/conduct"
)

// gone is how a call for an instance fails that the owner does not have.
func gone(id string) error {
	return backend.Fail(backend.Gone, "there is no instance %.70q", id)
}

// Get returns an instance as reads show it, which may be late.
func (c *Cloud) Get(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
	if _, err := c.ask(ctx, conduct.Get, c.nameOf(id)); err != nil {
		return backend.Instance{}, err
	}
	defer c.work.Done()
	c.mutex.Lock()
	i := c.known[id]
	c.mutex.Unlock()
	if i == nil {
		return backend.Instance{}, gone(id)
	}
	if found := c.read(i); found.belongs(owner) {
		if shown := found.at(c.asOf()); shown.State != "" {
			return c.show(i, shown), nil
		}
	}
	return backend.Instance{}, gone(id)
}

// pageSize is how many instances an answer shows at most.
const pageSize = 25

// List returns the instances of an owner as reads show them, in the order of their IDs.
func (c *Cloud) List(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
	var found []backend.Instance
	cursor := ""
	for {
		page, next, err := c.Page(ctx, owner, cursor)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		if next == "" {
			return found, nil
		}
		cursor = next
	}
}

// Page returns a part of a list, and the cursor of the part that follows; none after the last. Each is a call of its own.
func (c *Cloud) Page(ctx context.Context, owner backend.Owner, cursor string) ([]backend.Instance, string, error) {
	turn, err := c.ask(ctx, conduct.List, "")
	if err != nil {
		return nil, "", err
	}
	defer c.work.Done()
	behind, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, "", backend.Fail(backend.Invalid, "cursor: it is not one that an answer had: begin without one")
	}
	var page []backend.Instance
	for _, i := range c.sorted(string(behind)) {
		found := c.read(i)
		shown := found.at(c.asOf())
		if !found.belongs(owner) || shown.State == "" {
			continue
		}
		if turn.Leaves(found.Name) {
			c.tell(found.Name, "list: it is left out")
			continue
		}
		if len(page) == pageSize {
			return page, base64.RawURLEncoding.EncodeToString([]byte(page[len(page)-1].ID)), nil
		}
		page = append(page, c.show(i, shown))
	}
	return page, "", nil
}

// sorted returns all that reads may show and whose ID comes behind another, by ID.
func (c *Cloud) sorted(behind string) []*instance {
	now := c.options.Now()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.prune(now)
	var found []*instance
	for id, i := range c.known {
		if id > behind {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b *instance) int { return strings.Compare(a.record.ID, b.record.ID) })
	return found
}

// prune forgets what is gone for so long that no read shows it. The mutex is held.
func (c *Cloud) prune(now time.Time) {
	before := now.Add(-c.lag())
	for id, i := range c.known {
		if last := i.record.last(); last.State == "" && !last.At.After(before) {
			delete(c.known, id)
		}
	}
}

// lag is how late reads are on the clock, and asOf the time that they show.
func (c *Cloud) lag() time.Duration {
	return c.options.Keeper.Scaled(c.options.Keeper.Behaviour().Lag.Duration)
}
func (c *Cloud) asOf() time.Time { return c.options.Now().Add(-c.lag()) }

// nameOf is the name of an instance, by which the keeper knows it; empty if there is none.
func (c *Cloud) nameOf(id string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if i := c.known[id]; i != nil {
		return i.record.Name
	}
	return ""
}

// find returns the instance of an owner that is there in truth, or nil.
func (c *Cloud) find(owner backend.Owner, id string) *instance {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if i := c.known[id]; i != nil && i.record.belongs(owner) && i.record.last().State != "" {
		return i
	}
	return nil
}

// truth is what an instance does now.
func (c *Cloud) truth(i *instance) backend.Instance {
	return c.show(i, c.read(i).last())
}

// show is an instance as it is shown. One that shut itself down has no power, though nobody told the books.
func (c *Cloud) show(i *instance, shown change) backend.Instance {
	instance := c.read(i).instance(shown)
	if instance.State == backend.Running && c.isOff(i, instance.Name) {
		instance.State, instance.Message = backend.Stopped, "it was shut down from inside"
	}
	return instance
}

// isOff says whether a machine was shut down. One that has just got its power is not on yet, and its disk does not say off.
func (c *Cloud) isOff(i *instance, name string) bool {
	m := c.options.Rack.Machine(name)
	if m == nil || m.Status().Stage != "off" {
		return false
	}
	i.making.Lock()
	defer i.making.Unlock()
	if i.disk == nil {
		return false
	}
	content, err := i.disk.Load()
	return err == nil && content.Off
}

// Instances returns all instances as they are in truth, by name. No keeper is asked.
func (c *Cloud) Instances() []backend.Instance {
	var found []backend.Instance
	for _, i := range c.sorted("") {
		if shown := c.truth(i); shown.State != "" {
			found = append(found, shown)
		}
	}
	slices.SortFunc(found, func(a, b backend.Instance) int { return cmp.Compare(a.Name, b.Name) })
	return found
}
