// SPDX-License-Identifier: Apache-2.0

package datacentre

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
)

// TestWays opens a way, which stays the same when it is opened again, and is gone with its address when it is closed.
func TestWays(t *testing.T) {
	network, err := loopback.Claim(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	doors := door.New()
	t.Cleanup(doors.Close)
	if newWays(network, nil) != nil {
		t.Error("there are ways without doors")
	}
	ways, to := newWays(network, doors), netip.MustParseAddrPort("127.0.0.1:1")
	first, err := ways.Open("tenant/shop", to)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ways.Open("tenant/shop", to)
	if err != nil || again != first {
		t.Errorf("opened again it begins at %s, %v, and before at %s", again, err, first)
	}
	connection, err := net.Dial("tcp", first.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = connection.Close()
	for range 2 { // the second time it is gone
		if err := ways.Close("tenant/shop"); err != nil {
			t.Error(err)
		}
	}
	if _, err := net.Dial("tcp", first.String()); err == nil {
		t.Error("it is still there")
	}
	if other, err := network.Take("another"); err != nil || other != first.Addr() {
		t.Errorf("its address was not given back: the next is %s, %v", other, err)
	}
}

// TestThrough leads machines to their signer, and nowhere while that way is cut.
func TestThrough(t *testing.T) {
	doors := door.New()
	t.Cleanup(doors.Close)
	trustd := through(machine.Environment{}, doors).Trustd
	if got := trustd("127.5.1.1:6443"); !slices.Equal(got, []string{"127.5.1.1:50001"}) {
		t.Errorf("the signer is at %v", got)
	}
	doors.Set(door.ToSigner, door.Shut)
	if got := trustd("127.5.1.1:6443"); !slices.Equal(got, []string{doors.Nowhere(door.ToSigner)}) {
		t.Errorf("while the way is cut, the signer is at %v", got)
	}
	if through(machine.Environment{}, nil).Trustd != nil {
		t.Error("there are doors where there are none")
	}
}
