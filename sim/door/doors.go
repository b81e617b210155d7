// SPDX-License-Identifier: Apache-2.0

package door

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A Link is a way between two kinds of parts. All doors of a link have the same state.
type Link string

// The links.
const (
	ToManagement Link = "operator to management"
	ToPlace      Link = "operator to place"
	ToTenant     Link = "management to tenant"
	ToSigner     Link = "machine to signer"
	ToServer     Link = "machine to tenant"
)

// A State is what becomes of what goes through.
type State int

// The states.
const (
	Open   State = iota // all goes through
	Shut                // connections are cut, and refused
	Silent              // connections stay, and nothing is heard on them
)

// patience is how long a connection through a door may take to be made.
const patience = 10 * time.Second

// Doors are all of an estate. They outlive the parts.
type Doors struct {
	mutex   sync.Mutex
	links   map[Link]*link
	doors   map[netip.AddrPort]*door
	nowhere net.Listener // takes connections and says nothing
	work    sync.WaitGroup
	closed  bool
}

// A link is its state, and what to do when it changes.
type link struct {
	state   State
	changed chan struct{} // closed with every change
}

// New returns none yet.
func New() *Doors {
	return &Doors{links: map[Link]*link{}, doors: map[netip.AddrPort]*door{}}
}

// of is a link, for whoever holds the mutex. One that is asked for when all doors are taken away is shut.
func (d *Doors) of(name Link) *link {
	if d.links[name] == nil {
		made := &link{changed: make(chan struct{})}
		if d.closed {
			made.state = Shut
		}
		d.links[name] = made
	}
	return d.links[name]
}

// Set changes the state of a link, at once.
func (d *Doors) Set(name Link, state State) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	found := d.of(name)
	found.state = state
	close(found.changed)
	found.changed = make(chan struct{})
}

// State is the state of a link, and a channel that is closed when it changes.
func (d *Doors) State(name Link) (State, <-chan struct{}) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	found := d.of(name)
	return found.state, found.changed
}

// Add has a door of a link listen at an address and lead to another. One that does already is left alone.
func (d *Doors) Add(name Link, at, to netip.AddrPort) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	if found := d.doors[at]; found != nil {
		if found.to != to || found.link != name {
			return fmt.Errorf("the door at %s leads to %s already", at, found.to)
		}
		return nil
	}
	listener, err := net.Listen("tcp", at.String())
	if err != nil {
		return fmt.Errorf("a door: %w", err)
	}
	made := &door{doors: d, link: name, to: to, listener: listener}
	d.doors[at] = made
	d.work.Go(made.run)
	return nil
}

// Remove takes a door away. One that is not there is no mistake.
func (d *Doors) Remove(at netip.AddrPort) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if found := d.doors[at]; found != nil {
		_ = found.listener.Close() // connections that go through it end with their ends
		delete(d.doors, at)
	}
}

// Close takes all doors away and returns when nothing of them runs.
func (d *Doors) Close() {
	d.mutex.Lock()
	d.closed = true
	links := slices.Collect(maps.Keys(d.links))
	for at, found := range d.doors {
		_ = found.listener.Close()
		delete(d.doors, at)
	}
	if d.nowhere != nil {
		_ = d.nowhere.Close()
	}
	d.mutex.Unlock()
	for _, name := range links { // those who pass or wait ask again, and hear that it is over
		d.Set(name, Shut)
	}
	d.work.Wait()
}

// Dial dials through a link that has no doors of its own: for those who dial by a function. Connections end when the link is cut in
// either way.
func (d *Doors) Dial(name Link) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		for {
			switch state, changed := d.State(name); state {
			case Shut:
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
			case Silent:
				if err := waits(ctx, changed); err != nil {
					return nil, &net.OpError{Op: "dial", Net: network, Err: err}
				}
			default:
				made, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return watched(made, changed), nil
			}
		}
	}
}

// waits waits for a change, for as long as a connection may take to be made.
func waits(ctx context.Context, changed <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return errors.New("i/o timeout")
	}
}

// A fragile connection ends when something changes.
type fragile struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

// watched is a connection that ends with a change.
func watched(made net.Conn, changed <-chan struct{}) net.Conn {
	f := &fragile{Conn: made, ended: make(chan struct{})}
	go func() {
		select {
		case <-changed:
			_ = made.Close()
		case <-f.ended:
		}
	}()
	return f
}

// Close closes it.
func (f *fragile) Close() error {
	f.once.Do(func() { close(f.ended) })
	return f.Conn.Close()
}

// Nowhere is an address that is to be dialled in the place of another while a link is cut, for those whose certificates know only
// that: of one that refuses, or of one that says nothing. It is empty while the link is open.
func (d *Doors) Nowhere(name Link) string {
	state, _ := d.State(name)
	switch state {
	case Shut:
		return "127.0.0.1:1" // where nobody listens
	case Silent:
		return d.silence()
	}
	return ""
}

// silence is an address that takes connections and says nothing.
func (d *Doors) silence() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.nowhere == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "127.0.0.1:1" // it refuses then
		}
		d.nowhere = listener // nobody accepts: the kernel takes connections, and that is all
	}
	return d.nowhere.Addr().String()
}
