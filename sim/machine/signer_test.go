// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"minos.dev/minos/sim/machine"
)

// TestSignerDiesMeanwhile has machines ask a signer that ends in the middle of what it is asked, again and again, and then one that
// does not: each goes on by itself, and nothing has to be made anew.
func TestSignerDiesMeanwhile(t *testing.T) {
	s := newSite(t, "v1.14.1")
	dying, asked := dyingSigner(t)
	var lives atomic.Bool
	rack, err := machine.NewRack(machine.Environment{
		Scale: 1000, Registry: s.factory, Log: s.log, Durations: machine.Durations{Deadline: 24 * 365 * time.Hour},
		Trustd: func(string) []string {
			if lives.Load() {
				return []string{s.signer.Address()}
			}
			return []string{dying}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rack.Close()
	machines := []*machine.Machine{
		s.add(rack, machine.Options{UserData: s.configuration("plain", nil)}), s.add(rack, machine.Options{UserData: s.configuration("plain", nil)}),
	}
	s.eventually(func() bool { return asked.Load() >= 6 }, "machines that ask again")
	for _, m := range machines {
		if status := m.Status(); status.Reached(machine.StepTrustd) || status.Boots != 1 {
			t.Errorf("%s has a certificate of nobody, or gave up: %+v", m.Name(), status)
		}
	}
	lives.Store(true)
	for _, m := range machines {
		s.reaches(m, machine.StepReady)
		if boots := m.Status().Boots; boots != 1 {
			t.Errorf("%s booted %d times", m.Name(), boots)
		}
	}
}

// dyingSigner is one that ends as soon as it is asked something, and how often it was.
func dyingSigner(t *testing.T) (address string, asked *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	asked = &atomic.Int32{}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := io.ReadFull(connection, make([]byte, 64)); err == nil {
				asked.Add(1)
			}
			_ = connection.Close()
		}
	}()
	return listener.Addr().String(), asked
}
