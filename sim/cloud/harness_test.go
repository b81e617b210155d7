// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// owner is whose instances the tests make.
var owner = backend.Owner{Installation: "here", Cluster: "shop"}

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = time.Minute

// A world is what a cloud stands in, and what a kill leaves: its folder and its network.
type world struct {
	t         testing.TB
	folder    string
	addresses *cloudtest.Addresses
	keeper    *conduct.Keeper

	mutex  sync.Mutex
	now    time.Time // zero for the real clock
	events []cloud.Event
}

// newWorld returns an empty one.
func newWorld(t testing.TB, behaviour conduct.Behaviour) *world {
	t.Helper()
	return &world{t: t, folder: t.TempDir(), addresses: cloudtest.NewAddresses(), keeper: conduct.NewKeeper(1, 1, behaviour)}
}

// options are those of a cloud in the world, in a new rack.
func (w *world) options() (cloud.Options, *machine.Rack) {
	w.t.Helper()
	rack := cloudtest.Rack(w.t)
	return cloud.Options{Folder: w.folder, Rack: rack, Keeper: w.keeper, Addresses: w.addresses, Now: w.clock, Log: w.log}, rack
}

// open starts a cloud, which is closed with the test.
func (w *world) open() (*cloud.Cloud, *machine.Rack) {
	w.t.Helper()
	options, rack := w.options()
	opened, err := cloud.Open(options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(opened.Close)
	return opened, rack
}

// clock is the time in the world.
func (w *world) clock() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.now.IsZero() {
		return time.Now()
	}
	return w.now
}

// passes lets time pass in a world that has its own.
func (w *world) passes(d time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.now = w.now.Add(d)
}

// log keeps events.
func (w *world) log(event cloud.Event) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.events = append(w.events, event)
}

// said says whether something was logged of a machine.
func (w *world) said(name, text string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.ContainsFunc(w.events, func(e cloud.Event) bool { return e.Machine == name && strings.Contains(e.Message, text) })
}

// left is what there is beside the books, and files that are half of something.
func (w *world) left(rack *machine.Rack) []string {
	w.t.Helper()
	half, err := filepath.Glob(filepath.Join(w.folder, "instances", "*.new"))
	if err != nil {
		w.t.Fatal(err)
	}
	return append(cloudtest.Left(w.t, w.folder, rack, w.addresses), half...)
}

// create makes an instance.
func create(t testing.TB, c *cloud.Cloud, name string) backend.Instance {
	t.Helper()
	made, err := c.Create(t.Context(), cloudtest.Machine(owner, name))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// runs waits until an instance runs in truth.
func runs(t testing.TB, c *cloud.Cloud, name string) backend.Instance {
	t.Helper()
	var found backend.Instance
	eventually(t, func() bool {
		for _, found = range c.Instances() {
			if found.Name == name && found.State == backend.Running {
				return true
			}
		}
		return false
	}, "%s does not run: %v", name, c.Instances())
	return found
}

// eventually waits for a condition.
func eventually(t testing.TB, holds func() bool, format string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf(format, args...)
		}
	}
}

// boots waits until a machine has booted n times, of which its disk keeps count.
func boots(t testing.TB, c *cloud.Cloud, name string, n int) {
	t.Helper()
	m := c.Machine(name)
	if m == nil {
		t.Fatalf("%s has no machine", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if _, err := m.Wait(ctx, func(s machine.Status) bool { return s.Boots >= n }); err != nil {
		t.Fatalf("want boot %d: %v", n, err)
	}
}

// quantity reads an amount.
func quantity(t testing.TB, text string) *resource.Quantity {
	t.Helper()
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return &amount
}
