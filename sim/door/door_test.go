// SPDX-License-Identifier: Apache-2.0

package door_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"minos.dev/minos/sim/door"
)

// echo answers every line with the same, and returns where.
func echo(t *testing.T) netip.AddrPort {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(connection, connection); _ = connection.Close() }()
		}
	}()
	return netip.MustParseAddrPort(listener.Addr().String())
}

// free is an address at which nobody listens.
func free(t *testing.T) netip.AddrPort {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return netip.MustParseAddrPort(listener.Addr().String())
}

// A caller says lines and hears them.
type caller struct {
	net.Conn
	lines *bufio.Reader
}

// call connects.
func call(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error), at string) caller {
	t.Helper()
	connection, err := dial(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return caller{connection, bufio.NewReader(connection)}
}

// straight dials.
var straight = (&net.Dialer{}).DialContext

// says says a line, and returns an error if it is not heard within a time.
func (c caller) says(line string, within time.Duration) error {
	if _, err := fmt.Fprintln(c, line); err != nil {
		return err
	}
	return c.hears(line, within)
}

// hears wants a line.
func (c caller) hears(line string, within time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	heard, err := c.lines.ReadString('\n')
	if err == nil && heard != line+"\n" {
		err = fmt.Errorf("heard %q, want %q", heard, line)
	}
	return err
}

// long bounds what should come, short is how long it is waited for what should not.
const long, short = 10 * time.Second, 100 * time.Millisecond

// TestADoor opens, silences and shuts a door.
func TestADoor(t *testing.T) {
	doors, at := door.New(), free(t)
	t.Cleanup(doors.Close)
	to := echo(t)
	for range 2 { // the second time it is there
		if err := doors.Add(door.ToPlace, at, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := doors.Add(door.ToPlace, at, at); err == nil {
		t.Error("one door leads to two")
	}
	caller := call(t, straight, at.String())
	if err := caller.says("one", long); err != nil {
		t.Fatal(err)
	}
	doors.Set(door.ToPlace, door.Silent)
	if err := caller.says("two", short); err == nil {
		t.Error("something is heard through a silent door")
	}
	late := call(t, straight, at.String()) // which is taken, and waits
	doors.Set(door.ToPlace, door.Open)
	if err := caller.hears("two", long); err != nil {
		t.Errorf("what was said into silence is lost: %v", err)
	}
	if err := late.says("three", long); err != nil {
		t.Errorf("a call in silence is lost: %v", err)
	}
	doors.Set(door.ToPlace, door.Shut)
	for name, each := range map[string]struct{ says func() error }{
		"an old connection": {func() error { return caller.says("four", long) }},
		"a new connection":  {func() error { return call(t, straight, at.String()).says("five", long) }},
	} {
		if err := each.says(); err == nil || isTimeout(err) {
			t.Errorf("%s through a shut door: %v", name, err)
		}
	}
	doors.Set(door.ToPlace, door.Open)
	if err := call(t, straight, at.String()).says("six", long); err != nil {
		t.Errorf("a door that was opened again: %v", err)
	}
	doors.Remove(at)
	if _, err := net.DialTimeout("tcp", at.String(), long); err == nil {
		t.Error("a door that was taken away takes calls")
	}
}

// isTimeout says whether nothing came, in place of an end.
func isTimeout(err error) bool {
	late, ok := err.(net.Error) //nolint:errorlint // of the connection itself
	return ok && late.Timeout()
}

// TestDial cuts those who dial by a function.
func TestDial(t *testing.T) {
	doors, to := door.New(), echo(t)
	t.Cleanup(doors.Close)
	dial := doors.Dial(door.ToServer)
	caller := call(t, dial, to.String())
	if err := caller.says("one", long); err != nil {
		t.Fatal(err)
	}
	doors.Set(door.ToServer, door.Shut)
	if err := caller.says("two", long); err == nil || isTimeout(err) {
		t.Errorf("the connection goes on: %v", err)
	}
	if _, err := dial(t.Context(), "tcp", to.String()); err == nil {
		t.Error("another is made")
	}
	doors.Set(door.ToServer, door.Silent)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if _, err := dial(ctx, "tcp", to.String()); err == nil || ctx.Err() == nil {
		t.Errorf("silence is broken: %v", err)
	}
	doors.Set(door.ToServer, door.Open)
	if err := call(t, dial, to.String()).says("three", long); err != nil {
		t.Error(err)
	}
}

// TestNowhere leads there while a link is cut.
func TestNowhere(t *testing.T) {
	doors := door.New()
	t.Cleanup(doors.Close)
	if got := doors.Nowhere(door.ToSigner); got != "" {
		t.Errorf("an open link leads to %q", got)
	}
	doors.Set(door.ToSigner, door.Shut)
	if _, err := net.DialTimeout("tcp", doors.Nowhere(door.ToSigner), long); err == nil {
		t.Error("a shut link is taken")
	}
	doors.Set(door.ToSigner, door.Silent)
	caller := call(t, straight, doors.Nowhere(door.ToSigner))
	if err := caller.says("hello", short); err == nil || !isTimeout(err) {
		t.Errorf("silence says %v", err)
	}
}
