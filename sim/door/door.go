// SPDX-License-Identifier: Apache-2.0

package door

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A door is one listener, and what goes through it.
type door struct {
	doors    *Doors
	link     Link
	to       netip.AddrPort
	listener net.Listener
}

// run takes connections until the door is taken away.
func (d *door) run() {
	for {
		outer, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(tenth) // out of files, for example
			continue
		}
		d.doors.work.Go(func() { d.pass(outer) })
	}
}

const tenth = time.Second / 10

// pass leads a connection through, for as long as it lasts.
func (d *door) pass(outer net.Conn) {
	defer func() { _ = outer.Close() }()
	if !d.waitOpen() {
		return
	}
	inner, err := net.DialTimeout("tcp", d.to.String(), patience)
	if err != nil {
		return
	}
	defer func() { _ = inner.Close() }()
	var both sync.WaitGroup
	ended := make(chan struct{})
	both.Go(func() { d.copy(inner, outer) })
	both.Go(func() { d.copy(outer, inner) })
	go func() { both.Wait(); close(ended) }()
	for {
		state, changed := d.doors.State(d.link)
		if state == Shut {
			_ = outer.Close()
			_ = inner.Close()
		}
		select {
		case <-ended:
			return
		case <-changed:
		}
	}
}

// waitOpen waits while the door is silent, and says whether it is open then.
func (d *door) waitOpen() bool {
	for {
		state, changed := d.doors.State(d.link)
		if state != Silent {
			return state == Open
		}
		<-changed
	}
}

// copy passes on what is heard, and holds it back while the door is silent. When one side ends, both do.
func (d *door) copy(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		if count > 0 {
			if !d.waitOpen() {
				return
			}
			if _, err := to.Write(buffer[:count]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
