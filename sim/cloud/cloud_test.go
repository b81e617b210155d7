// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// TestLag wants reads to show what was, names to be unique at once, and nothing to be left of what late reads have shown.
func TestLag(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{Lag: metav1.Duration{Duration: time.Second}})
	w.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c, rack := w.open()
	shown := func() backend.State {
		t.Helper()
		listed, err := c.List(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		if len(listed) == 0 {
			return ""
		}
		found, err := c.Get(t.Context(), owner, listed[0].ID)
		if err != nil || found.State != listed[0].State {
			t.Fatalf("Get and List differ: %v, %v, %v", found, listed, err)
		}
		return found.State
	}
	made := create(t, c, "late")
	if again := create(t, c, "late"); again.ID != made.ID {
		t.Error("names are unique later only")
	}
	states := []backend.State{shown()}
	w.passes(time.Second)
	states = append(states, shown())
	if err := c.Delete(t.Context(), owner, made.ID); err != nil {
		t.Fatal(err)
	}
	if left := w.left(rack); len(left) > 0 {
		t.Errorf("what reads show is there in truth: %v", left)
	}
	states = append(states, shown())
	anew := create(t, c, "late")
	w.passes(time.Second)
	if _, err := c.Get(t.Context(), owner, made.ID); backend.ReasonOf(err) != backend.Gone {
		t.Errorf("the old one is shown: %v", err)
	}
	states = append(states, shown())
	if diff := cmp.Diff([]backend.State{"", backend.Running, backend.Running, backend.Running}, states); diff != "" || anew.ID == made.ID {
		t.Error(diff)
	}
}

// TestPower is what the owner of the cloud can do without asking anybody.
func TestPower(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Calls: []conduct.Call{conduct.Get}}}})
	c, rack := w.open()
	made := create(t, c, "m")
	if want := made.Addresses[0].String() + ":50000"; c.Machine("m").Status().API != want {
		t.Errorf("its API is at %s, want %s", c.Machine("m").Status().API, want)
	}
	if made.ProviderID != "sim:///"+made.ID {
		t.Errorf("its provider ID is %s", made.ProviderID)
	}
	steps := []struct {
		do   func(string) error
		want backend.State
		err  string
	}{
		{c.Start, backend.Running, ""}, {c.Stop, backend.Stopped, ""}, {c.Stop, backend.Stopped, "is Stopped and cannot become Stopped"},
		{c.Start, backend.Running, ""}, {c.Kill, backend.Failed, ""}, {c.Start, backend.Failed, "is Failed and cannot become Running"},
	}
	for at, step := range steps {
		err := step.do("m")
		if step.err == "" && err != nil || step.err != "" && (err == nil || !strings.Contains(err.Error(), step.err)) {
			t.Errorf("step %d: %v, want %q", at, err, step.err)
		}
		found := c.Instances()[0]
		if hasPower := c.Machine("m") != nil; found.State != step.want || hasPower != (step.want == backend.Running) {
			t.Errorf("step %d: it is %s, and power is %v", at, found.State, hasPower)
		}
	}
	if err := c.Kill("nobody"); err == nil {
		t.Error("what is not there was killed")
	}
	if !w.said("m", "is Failed: the host of the instance broke") {
		t.Errorf("no event tells of the death: %v", w.events)
	}
	if err := c.Delete(t.Context(), owner, made.ID); err != nil || len(w.left(rack)) > 0 {
		t.Errorf("%v, and %v is left", err, w.left(rack))
	}
}

// TestStart kills a cloud while an instance is made, and wants the next start to wait only for the rest of the time.
func TestStart(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{Start: metav1.Duration{Duration: time.Hour}})
	w.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c, _ := w.open()
	if made := create(t, c, "slow"); made.State != backend.Creating || c.Machine("slow") != nil {
		t.Errorf("it is %s", made.State)
	}
	c.Close()
	w.passes(time.Hour - 50*time.Millisecond)
	c, _ = w.open()
	runs(t, c, "slow")
}

// TestFaults wants what goes wrong to be told, with the machine, and to go wrong as often as it was told.
func TestFaults(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{})
	c, rack := w.open()
	tests := []struct {
		behaviour conduct.Behaviour
		want      backend.Reason
		event     string
	}{
		{conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Machines: "m"}}}, backend.Unavailable, "create: the cloud has too much to do"},
		{conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Revokes}}}, backend.Denied, "create: the credentials are not valid"},
		{conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Full}}}, backend.NoRoom, "create: there is no room"},
		{conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.LosesAnswer}}}, backend.Unsure, "create: it was done, and the answer is lost"},
	}
	for _, test := range tests {
		w.keeper.Set(test.behaviour)
		_, err := c.Create(t.Context(), cloudtest.Machine(owner, "m"))
		if got := backend.ReasonOf(err); err == nil || got != test.want || !w.said("m", test.event) {
			t.Errorf("%s: %v, want %s", got, err, test.want)
		}
	}
	w.keeper.Set(conduct.Behaviour{Rate: 0.001, Burst: 1})
	_, first := c.List(t.Context(), owner)
	_, second := c.List(t.Context(), owner)
	if first != nil || backend.ReasonOf(second) != backend.TooFast || backend.After(second) <= 0 || !w.said("", "list: too many calls") {
		t.Errorf("%v, then %v", first, second)
	}
	w.keeper.Set(conduct.Behaviour{})
	if _, err := c.Create(t.Context(), cloudtest.Machine(owner, "homeless")); backend.ReasonOf(err) != backend.NoRoom {
		t.Errorf("without an address: %v", err)
	}
	if left := w.left(rack); len(left) != 3 {
		t.Errorf("there is more than one machine, its disk and its address: %v", left)
	}
	for _, event := range w.events {
		if strings.Contains(event.Message, "secret") || event.Time.IsZero() {
			t.Errorf("an event shows user data, or no time: %v", event)
		}
	}
}

// TestInvalid is what the cloud refuses of those who do not come by way of the client.
func TestInvalid(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{})
	options, rack := w.options()
	options.Images = cloud.FromFactory(&machine.Factory{Extensions: map[string][]string{"0123": {"zfs"}}})
	c, err := cloud.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	changes := map[string]func(*backend.Machine){
		"no owner":      func(m *backend.Machine) { m.Owner.Cluster = "" },
		"a long owner":  func(m *backend.Machine) { m.Owner.Installation = strings.Repeat("x", 254) },
		"a long pool":   func(m *backend.Machine) { m.Pool = strings.Repeat("x", 254) },
		"half a talos":  func(m *backend.Machine) { m.Image.Version = "v1.13" },
		"no image":      func(m *backend.Machine) { m.Image.Schematic = "4567" },
		"another maker": func(m *backend.Machine) { m.Spec.Sim.GPU = "Voodoo" },
		"too large": func(m *backend.Machine) {
			m.Spec.Sim.Resources = &api.Resources{CPU: *quantity(t, "2000"), Memory: *quantity(t, "1Gi")}
		},
		"less than nothing": func(m *backend.Machine) {
			m.Spec.Sim.Resources = &api.Resources{CPU: *quantity(t, "-1"), Memory: *quantity(t, "1Gi")}
		},
	}
	for name, change := range changes {
		wanted := cloudtest.Machine(owner, "m")
		change(&wanted)
		if _, err := c.Create(t.Context(), wanted); backend.ReasonOf(err) != backend.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := w.left(rack); len(left) > 0 {
		t.Errorf("something was made: %v", left)
	}
	create(t, c, "m")
	boots(t, c, "m", 1)
	want := machine.Image{Version: "v1.13.9", Schematic: "0123", Extensions: []string{"zfs"}}
	if diff := cmp.Diff(want, c.Machine("m").Status().Image); diff != "" {
		t.Error(diff)
	}
}

// TestAtTheSameTime does everything at once to a few names, and wants the books to be right in the end.
func TestAtTheSameTime(t *testing.T) {
	some := metav1.Duration{Duration: time.Millisecond}
	w := newWorld(t, conduct.Behaviour{Jitter: some, Start: some, Stop: some})
	c, rack := w.open()
	var work sync.WaitGroup
	for n := range 8 {
		name := fmt.Sprint("m", n%4)
		work.Go(func() {
			for range 20 {
				made, err := c.Create(t.Context(), cloudtest.Machine(owner, name))
				_ = errors.Join(c.Stop(name), c.Start(name)) // whether they can is up to the others
				_, _ = c.List(t.Context(), owner)
				if reason := backend.ReasonOf(err); err != nil && reason != backend.Unavailable {
					t.Errorf("create: %v", err)
				}
				if err == nil {
					if err := c.Delete(t.Context(), owner, made.ID); err != nil && backend.ReasonOf(err) != backend.Gone {
						t.Errorf("delete: %v", err)
					}
				}
			}
		})
	}
	work.Wait()
	eventually(t, func() bool { return len(c.Instances()) == 0 }, "there are instances: %v", c.Instances())
	if left := w.left(rack); len(left) > 0 {
		t.Errorf("there is something left: %v", left)
	}
	c.Close()
	if c, _ = w.open(); len(c.Instances()) > 0 {
		t.Errorf("the books tell of %v", c.Instances())
	}
}

// TestMemory wants a cloud without a folder to work, and its disks to outlive a power cut.
func TestMemory(t *testing.T) {
	c, err := cloud.Open(cloud.Options{Rack: cloudtest.Rack(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	made := create(t, c, "m")
	boots(t, c, "m", 1)
	if err := errors.Join(c.Stop("m"), c.Start("m")); err != nil {
		t.Fatal(err)
	}
	boots(t, c, "m", 2)
	if err := c.Delete(t.Context(), owner, made.ID); err != nil || len(c.Instances()) > 0 {
		t.Errorf("%v, and %v", err, c.Instances())
	}
}

// TestBooks wants the books to be for nobody else, and ones that make no sense to be refused with the file.
func TestBooks(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{})
	c, _ := w.open()
	made := create(t, c, "m")
	c.Close()
	file := filepath.Join(w.folder, "instances", made.ID+".json")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", info.Mode(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]string{"i-1.json": "{", "i-2.json": `{"id": "i-3"}`, "i-4.json": strings.ReplaceAll(string(text), made.ID, "i-4")} {
		other := filepath.Join(w.folder, "instances", name)
		if err := os.WriteFile(other, []byte(broken), fs.FileMode(0o600)); err != nil {
			t.Fatal(err)
		}
		options, _ := w.options()
		if _, err := cloud.Open(options); err == nil || !strings.Contains(err.Error(), "remove") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
	w.keeper.Set(conduct.Behaviour{Lag: metav1.Duration{Duration: time.Minute}})
	options, _ := w.options()
	if _, err := cloud.Open(options); err == nil || !strings.HasPrefix(err.Error(), "lag: ") {
		t.Errorf("reads that are late by a minute: %v", err)
	}
	if _, err := cloud.Open(cloud.Options{}); err == nil {
		t.Error("there is no rack")
	}
}
