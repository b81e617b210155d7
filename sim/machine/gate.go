// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"net"
	"sync"
)

// A gate is the address of a machine's API. It is there as long as the machine is in its rack, so that no other machine gets
// the address while this one reboots; who calls while the gate is shut is hung up on.
type gate struct {
	listener net.Listener // nil for a machine that nobody can call
	accepted sync.WaitGroup

	mutex sync.Mutex
	door  *door // nil while shut
}

// newGate listens, if there is something to listen at.
func newGate(address string) (*gate, error) {
	g := &gate{}
	if address == "" {
		return g, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	g.listener = listener
	g.accepted.Go(g.accept)
	return g, nil
}

// accept lets callers in or hangs up.
func (g *gate) accept() {
	for {
		connection, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.mutex.Lock()
		open := g.door
		g.mutex.Unlock()
		if open == nil || !open.admit(connection) {
			_ = connection.Close() // the caller is gone either way
		}
	}
}

// address is where the gate is.
func (g *gate) address() string {
	if g.listener == nil {
		return ""
	}
	return g.listener.Addr().String()
}

// open lets callers in to a server, which gets a listener of its own. An open gate stays as it is.
func (g *gate) open(serve func(net.Listener)) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.listener == nil || g.door != nil {
		return
	}
	g.door = &door{address: g.listener.Addr(), callers: make(chan net.Conn), closed: make(chan struct{}), inside: map[net.Conn]bool{}}
	made := g.door
	g.accepted.Go(func() { serve(made) })
}

// shut hangs up on everybody and lets nobody in.
func (g *gate) shut() {
	g.mutex.Lock()
	was := g.door
	g.door = nil
	g.mutex.Unlock()
	if was != nil {
		was.cut()
	}
}

// close gives the address up.
func (g *gate) close() {
	g.shut()
	if g.listener != nil {
		_ = g.listener.Close() // closed twice is closed
	}
	g.accepted.Wait()
}

// A door is a gate while it is open: the listener of one server.
type door struct {
	address net.Addr
	callers chan net.Conn
	closed  chan struct{}
	once    sync.Once

	mutex  sync.Mutex
	inside map[net.Conn]bool
}

// admit hands a caller to the server.
func (d *door) admit(caller net.Conn) bool {
	select {
	case d.callers <- caller:
		return true
	case <-d.closed:
		return false
	}
}

// Accept returns the next caller.
func (d *door) Accept() (net.Conn, error) {
	select {
	case caller := <-d.callers:
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.inside[caller] = true
		return &guest{Conn: caller, door: d}, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Addr is the gate's.
func (d *door) Addr() net.Addr { return d.address }

// Close lets nobody in any more. Who is inside stays.
func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// cut hangs up on everybody.
func (d *door) cut() {
	_ = d.Close() // never fails
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for caller := range d.inside {
		_ = caller.Close() // closed twice is closed
	}
}

// A guest is a caller who is counted.
type guest struct {
	net.Conn
	door *door
}

// Close hangs up.
func (g *guest) Close() error {
	g.door.mutex.Lock()
	delete(g.door.inside, g.Conn)
	g.door.mutex.Unlock()
	return g.Conn.Close()
}
