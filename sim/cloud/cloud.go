// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
)

// A Cloud makes instances. Its methods may be called at the same time.
type Cloud struct {
	options Options
	books   books

	context context.Context // of what it does by itself
	cancel  context.CancelFunc
	work    sync.WaitGroup // calls that do something, and what it does by itself

	// mutex guards what follows and the records in it. It is held for a moment only: never while a machine, a disk or an
	// address is touched. An instance's own mutex is taken before it, not after.
	mutex  sync.Mutex
	closed bool
	names  map[string]*instance // those that are there, by name
	known  map[string]*instance // by ID, also those that are gone and that late reads still show
}

// An instance is one record and what is made from it.
type instance struct {
	record record // guarded by the cloud's mutex

	// making lets one at a time make or unmake the instance, and guards its disk.
	making sync.Mutex
	disk   machine.Disk
}

// errStopped is how everything ends that a closed cloud has not done. The books say how far it came.
var errStopped = errors.New("the cloud was stopped")

// Open starts a cloud: all that its books tell of comes back. What was being made is finished, what was being deleted is
// removed, and what had power has it again.
func Open(options Options) (*Cloud, error) {
	filled, err := options.filled()
	if err != nil {
		return nil, err
	}
	c := &Cloud{options: filled, names: map[string]*instance{}, known: map[string]*instance{}}
	c.context, c.cancel = context.WithCancel(context.Background())
	c.books = books{folder: filled.Folder, cut: c.cut}
	if err := c.recover(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// recover brings everything back.
func (c *Cloud) recover() error {
	if err := c.books.open(); err != nil {
		return err
	}
	records, err := c.books.read()
	if err != nil {
		return err
	}
	for _, found := range records {
		if other := c.names[found.Name]; other != nil {
			return fmt.Errorf("the books: %s and %s are both called %s: remove the record and the disk of one", other.record.ID, found.ID, found.Name)
		}
		i := &instance{record: found}
		c.names[found.Name], c.known[found.ID] = i, i
	}
	for _, found := range records {
		if err := c.resume(c.known[found.ID]); err != nil {
			return fmt.Errorf("instance %s: %w", found.Name, err)
		}
	}
	return nil
}

// Close stops the cloud and cuts the power of its machines, as a kill does, and returns when nothing of it runs. The rack is
// the caller's to close.
func (c *Cloud) Close() {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	c.cancel()
	c.work.Wait()
	c.mutex.Lock()
	names := slices.Collect(maps.Keys(c.names))
	c.mutex.Unlock()
	for _, name := range names {
		c.options.Rack.Remove(name)
	}
}

// cut says whether the cloud still runs. It is asked before every step: a kill can come between any two.
func (c *Cloud) cut(step string) error {
	if c.context.Err() != nil {
		return errStopped
	}
	if c.options.cut != nil {
		return c.options.cut(step)
	}
	return nil
}

// begin counts work, unless the cloud is closed. Who gets true ends it with c.work.Done.
func (c *Cloud) begin() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return false
	}
	c.work.Add(1)
	return true
}

// after does something when a simulated time has passed: at once if that is none.
func (c *Cloud) after(wait time.Duration, do func()) {
	if wait <= 0 {
		do()
		return
	}
	if !c.begin() {
		return
	}
	go func() {
		defer c.work.Done()
		if c.options.Keeper.Pass(c.context, wait) == nil {
			do()
		}
	}()
}

// read returns what the books say of an instance.
func (c *Cloud) read(i *instance) record {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return i.record
}

// note changes what the books say of an instance.
func (c *Cloud) note(i *instance, change func(record) record) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	next := change(i.record)
	if err := c.books.write(next); err != nil {
		return err
	}
	i.record = next
	return nil
}

// turn notes that an instance does something else from now on, and tells.
func (c *Cloud) turn(i *instance, state backend.State, message string) error {
	now := c.options.Now()
	if err := c.note(i, func(r record) record { return r.with(now, state, message) }); err != nil {
		return err
	}
	if message != "" {
		message = ": " + message
	}
	c.tell(c.read(i).Name, "is %s%s", state, message)
	return nil
}

// tell logs.
func (c *Cloud) tell(name, format string, args ...any) {
	c.options.Log(Event{Time: c.options.Now(), Machine: name, Message: fmt.Sprintf(format, args...)})
}
