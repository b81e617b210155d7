// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"minos.dev/minos/sim/machine"
)

// TestKilledAnywhere cuts the power after the first event, after the second and so on, each time on another machine, and
// expects the machine to come to the same end when its rack is started again on the same disk.
func TestKilledAnywhere(t *testing.T) {
	s := newSite(t, "v1.14.1")
	text := s.configuration("plain", nil)
	for after := 1; ; after++ {
		folder := t.TempDir()
		name := unique("killed")
		start := func(rack *machine.Rack) *machine.Machine {
			disk, err := machine.NewFolder(folder, s.image())
			if err != nil {
				t.Fatal(err)
			}
			return s.add(rack, machine.Options{Name: name, Disk: disk, UserData: text})
		}
		reached := s.killAfter(name, after, start)
		m := start(s.newRack(machine.Durations{}))
		s.reaches(m, machine.StepReady)
		if m.Status().Node != name || m.Status().Boots < 1 {
			t.Errorf("killed after %d events: %+v", after, m.Status())
		}
		if reached {
			return
		}
	}
}

// killAfter cuts the power of a machine after so many events, and says whether it was ready by then.
func (s *site) killAfter(name string, after int, start func(*machine.Rack) *machine.Machine) bool {
	s.t.Helper()
	rack := s.newRack(machine.Durations{})
	enough := make(chan struct{})
	var once sync.Once
	seen, ready := 0, false
	s.mutex.Lock()
	s.watch = func(event machine.Event) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if event.Machine == name && seen < after {
			seen++
			ready = ready || event.Step == machine.StepReady
			if seen == after || ready {
				once.Do(func() { close(enough) })
			}
		}
	}
	s.mutex.Unlock()
	start(rack)
	select {
	case <-enough:
	case <-time.After(within):
		s.t.Fatalf("there were not %d events", after)
	}
	rack.Close()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.watch = nil
	return ready
}

// TestRemembers restarts a machine with other user data: what is on the disk counts, and its identity stays.
func TestRemembers(t *testing.T) {
	s := newSite(t, "v1.14.1")
	disk := machine.NewMemory(s.image())
	m := s.joined(machine.Options{Disk: disk})
	before, err := disk.Load()
	if err != nil || len(before.Kubelet.Certificate) == 0 {
		t.Errorf("the kubelet's certificate is not on the disk: %v", err)
	}
	uid, identity := s.node(m).UID, s.node(m).Status.NodeInfo.MachineID
	boot := s.node(m).Status.NodeInfo.BootID
	m.Kill()
	if _, err := s.call(m, role.Reader).Version(t.Context()); err == nil {
		t.Error("a machine without power answers")
	}
	m.Power()
	s.becomes(m, func(status machine.Status) bool { return status.Boots == 2 && status.Reached(machine.StepReady) })
	s.eventually(func() bool { return s.node(m).Status.NodeInfo.BootID != boot }, "another boot ID")
	if node := s.node(m); node.UID != uid || node.Status.NodeInfo.MachineID != identity {
		t.Error("it is another Node")
	}
	if after, err := disk.Load(); err != nil || !bytes.Equal(before.Kubelet.Certificate, after.Kubelet.Certificate) {
		t.Errorf("it asked for another certificate: %v", err)
	}
	if _, err := s.call(m, role.Reader).Version(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoAPI shuts the API of a machine that is well otherwise.
func TestNoAPI(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{Knobs: machine.Knobs{NoAPI: true}})
	c := s.call(m, role.Reader)
	if _, err := c.Version(t.Context()); talosclient.StatusCode(err).String() != "Unavailable" {
		t.Errorf("it answers: %v", err)
	}
	m.Set(func(k *machine.Knobs) { k.NoAPI = false })
	s.eventually(func() bool { _, err := s.call(m, role.Reader).Version(t.Context()); return err == nil }, "an answer")
}

// TestRenews asks trustd again when the time has come.
func TestRenews(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.add(s.newRack(machine.Durations{Renew: 100 * time.Second}), machine.Options{UserData: s.configuration("plain", nil)})
	s.reaches(m, machine.StepReady)
	s.eventually(func() bool { return s.said(m.Name(), "renewed") }, "a renewal")
}
