// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
)

// A guillotine lets a number of steps pass and none after them.
type guillotine struct {
	passes int // less than none is for good
	fell   string
}

// cut is asked before a step. The tests ask for one thing at a time.
func (g *guillotine) cut(step string) error {
	if g.passes == 0 {
		if g.fell == "" {
			g.fell = step
		}
		return cloud.ErrStopped
	}
	g.passes--
	return nil
}

// killedIn opens a cloud with two instances, does something, and cuts it off after a number of steps. It returns the step that
// was not done: none if all were.
func (w *world) killedIn(steps int, do func(c *cloud.Cloud)) string {
	w.t.Helper()
	blade := &guillotine{passes: -1}
	options, rack := w.options()
	opened, err := cloud.Open(cloud.CutBy(options, blade.cut))
	if err != nil {
		w.t.Fatal(err)
	}
	create(w.t, opened, "bystander")
	create(w.t, opened, "victim")
	boots(w.t, opened, "bystander", 1)
	blade.passes = steps
	do(opened)
	fell := blade.fell
	rack.Close() // all power at once
	opened.Close()
	return fell
}

// reopen starts again, after a start that was itself cut off after a number of steps.
func (w *world) reopen(steps int) (*cloud.Cloud, func() []string) {
	w.t.Helper()
	blade := &guillotine{passes: steps}
	options, cutRack := w.options()
	half, err := cloud.Open(cloud.CutBy(options, blade.cut))
	if err != nil && !errors.Is(err, cloud.ErrStopped) {
		w.t.Fatal(err)
	}
	cutRack.Close()
	if err == nil {
		half.Close()
	}
	opened, rack := w.open()
	return opened, func() []string { return w.left(rack) }
}

// TestKilledWhileMaking cuts the cloud off before every step of a Create, and again before every step of the next start.
func TestKilledWhileMaking(t *testing.T) {
	walk(t, func(w *world, steps, again int) string {
		var answered backend.Instance
		var failed error
		fell := w.killedIn(steps, func(c *cloud.Cloud) {
			answered, failed = c.Create(t.Context(), cloudtest.Machine(owner, "new"))
		})
		opened, left := w.reopen(again)
		if failed == nil {
			if found := runs(t, opened, "new"); found.ID != answered.ID {
				t.Errorf("%s was promised, and %s is there", answered.ID, found.ID)
			}
		} else if reason := backend.ReasonOf(failed); reason != backend.Unsure {
			t.Errorf("the call failed with %s", reason)
		}
		before := len(opened.Instances())
		made := create(t, opened, "new")
		runs(t, opened, "new")
		boots(t, opened, "bystander", 2)
		if all := opened.Instances(); len(all) != 3 || before < 2 {
			t.Errorf("there were %d instances, and with %s there are %d", before, made.ID, len(all))
		}
		if things := left(); len(things) != 9 {
			t.Errorf("there are not three machines, disks and addresses: %v", things)
		}
		return fell
	})
}

// TestKilledWhileDeleting cuts the cloud off before every step of a Delete, and again before every step of the next start.
func TestKilledWhileDeleting(t *testing.T) {
	walk(t, func(w *world, steps, again int) string {
		var victim backend.Instance
		var failed error
		fell := w.killedIn(steps, func(c *cloud.Cloud) {
			victim = runs(t, c, "victim")
			failed = c.Delete(t.Context(), owner, victim.ID)
		})
		opened, left := w.reopen(again)
		switch all := opened.Instances(); {
		case len(all) == 2 && all[1].ID == victim.ID && all[1].State == backend.Running && failed != nil:
			// It was cut off before it had begun.
			if err := opened.Delete(t.Context(), owner, victim.ID); err != nil {
				t.Error(err)
			}
		case len(all) != 1:
			t.Errorf("after a Delete that returned %v there are %v", failed, all)
		}
		runs(t, opened, "bystander")
		if things := left(); len(things) != 3 {
			t.Errorf("there is more than one machine, its disk and its address: %v", things)
		}
		return fell
	})
}

// walk tries every pair of a step and a step of the next start, until both are walked to their end.
func walk(t *testing.T, try func(w *world, steps, again int) string) {
	var walked []string
	for steps := range 50 {
		fell := ""
		for _, again := range []int{0, 1, 2, 3, 4, 6, 9} {
			t.Run(fmt.Sprintf("%d steps, then %d", steps, again), func(t *testing.T) {
				w := newWorld(t, conduct.Behaviour{})
				fell = try(w, steps, again)
			})
		}
		if fell == "" {
			t.Logf("walked through: %v", walked)
			if len(walked) < 5 {
				t.Error("that are too few steps to be all")
			}
			return
		}
		walked = append(walked, fell)
	}
	t.Error("it never ends")
}

// TestGoesOn kills a cloud with instances in every state, and wants them as they were.
func TestGoesOn(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{})
	c, rack := w.open()
	for _, name := range []string{"running", "stopped", "dead"} {
		create(t, c, name)
		boots(t, c, name, 1)
	}
	if err := errors.Join(c.Stop("stopped"), c.Kill("dead")); err != nil {
		t.Fatal(err)
	}
	before := c.Instances()
	rack.Close()
	c.Close()
	c, _ = w.open()
	if diff := cmp.Diff(before, c.Instances(), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
	boots(t, c, "running", 2)
	if c.Machine("stopped") != nil || c.Machine("dead") != nil {
		t.Error("what had no power has some")
	}
	if err := c.Start("stopped"); err != nil {
		t.Fatal(err)
	}
	boots(t, c, "stopped", 2)
}
