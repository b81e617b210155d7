// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	wire "minos.dev/minos/backend/sim"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/conduct"
)

// ask lets a call in, as the keeper wants it: it takes its time, and may fail before anything is done. The work of a call that
// was let in is ended with c.work.Done.
func (c *Cloud) ask(ctx context.Context, call conduct.Call, name string) (conduct.Turn, error) {
	turn, err := c.options.Keeper.Ask(ctx, call, name)
	if err != nil {
		return turn, &backend.Error{Reason: backend.Unsure, Message: "the caller hung up", Cause: err}
	}
	failure := refused(turn)
	if failure == nil && !c.begin() {
		failure = backend.Fail(backend.Unavailable, "the cloud is stopping: try again later")
	}
	if failure != nil {
		c.tell(name, "%s: %s", call, failure.Message)
		return turn, failure
	}
	return turn, nil
}

// refused is how a call fails that is not let in; nil if it is.
func refused(turn conduct.Turn) *backend.Error {
	switch {
	case turn.TooFast > 0:
		return &backend.Error{Reason: backend.TooFast, Message: "too many calls: ask again later", After: turn.TooFast}
	case turn.Wrong == conduct.Revokes:
		return backend.Fail(backend.Denied, "the credentials are not valid: give others")
	case turn.Wrong == conduct.Refuses:
		return backend.Fail(backend.Unavailable, "the cloud has too much to do: try again later")
	}
	return nil
}

// answer is what a caller gets after the work was done: nothing, if the answer is lost.
func (c *Cloud) answer(turn conduct.Turn, call conduct.Call, name string) error {
	if turn.Wrong != conduct.LosesAnswer {
		return nil
	}
	c.tell(name, "%s: it was done, and the answer is lost", call)
	return backend.Fail(backend.Unsure, "no answer came: ask again")
}

// Create makes an instance, or returns the one of that name.
func (c *Cloud) Create(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
	turn, err := c.ask(ctx, conduct.Create, wanted.Name)
	if err != nil {
		return backend.Instance{}, err
	}
	defer c.work.Done()
	made, err := c.create(turn, wanted)
	if err != nil {
		c.tell(wanted.Name, "create: %v", err)
		return backend.Instance{}, err
	}
	if err := c.answer(turn, conduct.Create, wanted.Name); err != nil {
		return backend.Instance{}, err
	}
	return made, nil
}

// create does it.
func (c *Cloud) create(turn conduct.Turn, wanted backend.Machine) (backend.Instance, error) {
	if err := checkWanted(wanted); err != nil {
		return backend.Instance{}, err
	}
	if _, err := c.options.Images(wanted.Image); err != nil {
		return backend.Instance{}, backend.Fail(backend.Invalid, "image: %v", err)
	}
	i, isNew, err := c.register(turn, wanted)
	if err != nil {
		return backend.Instance{}, err
	}
	if !isNew {
		return c.truth(i), nil
	}
	c.tell(wanted.Name, "is made")
	if err := c.furnish(i); err != nil {
		return backend.Instance{}, c.undo(i, err)
	}
	c.after(c.options.Keeper.Behaviour().Start.Duration, func() { c.finish(i) })
	return c.truth(i), nil
}

// undo takes back an instance that could not be made. A cloud that was stopped does not: the next start makes it.
func (c *Cloud) undo(i *instance, cause error) error {
	if errors.Is(cause, errStopped) {
		return backend.Fail(backend.Unsure, "the cloud stopped meanwhile: ask again")
	}
	if err := c.dismiss(i); err != nil {
		return err
	}
	if errors.Is(cause, errNoAddress) {
		return backend.Fail(backend.NoRoom, "%v", cause)
	}
	return backend.Fail(backend.Unavailable, "it could not be made: %v", cause)
}

// register finds the instance of a name or writes down that there is one. Names are unique at once, however late reads are.
func (c *Cloud) register(turn conduct.Turn, wanted backend.Machine) (i *instance, isNew bool, err error) {
	now, behaviour := c.options.Now(), c.options.Keeper.Behaviour()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.prune(now)
	if found := c.names[wanted.Name]; found != nil {
		return found, false, clash(found.record, wanted)
	}
	if turn.Wrong == conduct.Full || behaviour.Quota > 0 && len(c.names) >= behaviour.Quota {
		return nil, false, backend.Fail(backend.NoRoom, "there is no room for another instance: delete one, or ask for a larger quota")
	}
	said := wire.WantedOf(wanted)
	made := record{
		ID: newID(), Name: said.Name, Pool: said.Pool, Owner: said.Owner, Size: said.Size, Image: said.Image, UserData: bytes.Clone(said.UserData), Created: c.options.Stamp(),
	}.with(now, backend.Creating, "")
	if turn.Wrong == conduct.FailsInstance {
		made.Fails = "the host of the instance broke while it was made"
	}
	if err := c.books.write(made); err != nil {
		if errors.Is(err, errStopped) {
			return nil, false, backend.Fail(backend.Unsure, "the cloud stopped meanwhile: ask again")
		}
		return nil, false, backend.Fail(backend.Unavailable, "the books could not be written: try again later")
	}
	i = &instance{record: made}
	c.names[made.Name], c.known[made.ID] = i, i
	return i, true, nil
}

// clash is why an instance that is there is not the one that is wanted; nil if it is.
func clash(found record, wanted backend.Machine) error {
	if !found.belongs(wanted.Owner) {
		return backend.Fail(backend.Taken, "the name %s is taken: choose another", wanted.Name)
	}
	if found.last().State == backend.Deleting {
		return backend.Fail(backend.Unavailable, "an instance %s is being deleted: try again when it is gone", wanted.Name)
	}
	return nil
}

// newID is an ID that no other instance has had.
func newID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return "i-" + hex.EncodeToString(random[:])
}

// Delete has an instance removed. One that the owner does not have is Gone.
func (c *Cloud) Delete(ctx context.Context, owner backend.Owner, id string) error {
	name := c.nameOf(id)
	turn, err := c.ask(ctx, conduct.Delete, name)
	if err != nil {
		return err
	}
	defer c.work.Done()
	i := c.find(owner, id)
	if i == nil {
		return gone(id)
	}
	if err := c.dismiss(i); err != nil {
		return err
	}
	return c.answer(turn, conduct.Delete, name)
}

// dismiss begins to remove an instance: once, whoever asks.
func (c *Cloud) dismiss(i *instance) error {
	first, err := c.doom(i)
	if err != nil {
		return backend.Fail(backend.Unsure, "the books could not be written: ask again")
	}
	if first {
		c.after(c.options.Keeper.Behaviour().Stop.Duration, func() { c.leave(i) })
	}
	return nil
}

// doom writes down that an instance will be gone, and cuts its power. It says whether nobody had done that before.
func (c *Cloud) doom(i *instance) (bool, error) {
	i.making.Lock()
	defer i.making.Unlock()
	if c.read(i).isLeaving() {
		return false, nil
	}
	if err := c.turn(i, backend.Deleting, ""); err != nil {
		return false, err
	}
	if err := c.cut("cut the power"); err != nil {
		return false, err
	}
	c.options.Rack.Remove(c.read(i).Name)
	return true, nil
}
