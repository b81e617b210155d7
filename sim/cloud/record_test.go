// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	wire "minos.dev/minos/backend/sim"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
)

// TestRecord is what the books say of an instance at a time.
func TestRecord(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := record{ID: "i-1"}.with(begin, backend.Creating, "").with(begin.Add(time.Second), backend.Running, "").with(begin.Add(2*time.Second), "", "")
	var states []backend.State
	for _, at := range []time.Duration{-1, 0, time.Second - 1, time.Second, 2 * time.Second, time.Hour} {
		states = append(states, r.at(begin.Add(at)).State)
	}
	if diff := cmp.Diff([]backend.State{"", backend.Creating, backend.Creating, backend.Running, "", ""}, states); diff != "" {
		t.Error(diff)
	}
	other := r.with(begin, backend.Failed, "")
	if r.last().State != "" || other.last().State != backend.Failed {
		t.Error("a change of a copy shows in the record")
	}
	for n := range 100 {
		r = r.with(begin.Add(time.Duration(n)), backend.Stopped, "")
	}
	if len(r.Changes) != remembered || !r.last().At.Equal(begin.Add(99)) {
		t.Errorf("it remembers %d changes, the last of %s", len(r.Changes), r.last().At)
	}
}

// TestDevices is what a machine has in it.
func TestDevices(t *testing.T) {
	var none record
	some := record{Size: wire.Size{GPU: "NVIDIA"}}
	if none.devices() != nil {
		t.Errorf("without a size it has %v", none.devices())
	}
	if diff := cmp.Diff([]string{"/sys/bus/pci/drivers/nvidia"}, some.devices()); diff != "" {
		t.Error(diff)
	}
}

// TestMachine is what a record is in the rack. What the size does not say is left to the machine.
func TestMachine(t *testing.T) {
	address := netip.MustParseAddr("127.1.2.3")
	r := record{ID: "i-1", Name: "m", Address: &address, UserData: []byte("text"), Size: wire.Size{CPUs: 2}}
	want := machine.Options{
		Name: "m", UserData: []byte("text"), Platform: "nocloud", Hostname: "m", Addresses: []netip.Addr{address}, ProviderID: "sim:///i-1",
		CPUs: 2, Listen: "127.1.2.3:50000",
	}
	if diff := cmp.Diff(want, r.machine(nil, 50000), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}
