// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A world is a pool and what happens to it, by the dice.
type world struct {
	t        *testing.T
	dice     *rand.Rand
	now      time.Time
	policy   Policy
	machines []Machine
	told     []string
	named    int
	given    map[string]bool // names, which nobody has twice
}

// newWorld is an empty pool with some policy.
func newWorld(t *testing.T, seed uint64) *world {
	dice := rand.New(rand.NewPCG(seed, 1))
	w := &world{t: t, dice: dice, given: map[string]bool{}, now: time.Unix(1_800_000_000, 0), policy: Policy{
		Pool: "workers", Desired: dice.IntN(6), Revision: "r0", Surge: dice.IntN(3), Unavailable: dice.IntN(3),
		Startup: 20 * time.Minute, NotReady: 10 * time.Minute, Silent: 5 * time.Minute, Keep: dice.IntN(4) == 0,
	}}
	if w.policy.Surge == 0 && w.policy.Unavailable == 0 {
		w.policy.Unavailable = 1
	}
	w.policy.Unhealthy = max(1, w.policy.Desired*2/5)
	return w
}

// tell writes down what happened, for whoever has to understand a failure.
func (w *world) tell(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

// fail shows the last of it.
func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.told[max(0, len(w.told)-25):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

// happen lets something happen.
func (w *world) happen() {
	w.now = w.now.Add(time.Duration(w.dice.IntN(180)) * time.Second)
	switch w.dice.IntN(14) {
	case 0:
		w.policy.Desired = w.dice.IntN(8)
		w.policy.Unhealthy = max(1, w.policy.Desired*2/5)
		w.tell("desired %d", w.policy.Desired)
	case 1:
		w.policy.Revision = fmt.Sprintf("r%d", w.dice.IntN(1000))
		w.tell("revision %s", w.policy.Revision)
	}
	if len(w.machines) == 0 {
		return
	}
	at := w.dice.IntN(len(w.machines))
	m := &w.machines[at]
	switch w.dice.IntN(16) {
	case 0:
		m.Failed = "the host broke"
		m.Available = false
	case 1, 2:
		if m.Joined {
			m.Available, m.Node, m.Since = false, []NodeState{NodeNotReady, NodeSilent}[w.dice.IntN(2)], w.now
		}
	case 3:
		m.First = true
	case 4:
		if m.Kept {
			m.Deleting = true // somebody is done with it
		}
	case 5, 6:
		if m.Deleting {
			w.machines = slices.Delete(w.machines, at, at+1)
		}
	default:
		w.progress(m)
	}
}

// progress brings a machine a step on.
func (w *world) progress(m *Machine) {
	switch {
	case m.Deleting || m.Failed != "" || m.Kept:
	case m.Made.IsZero():
		m.Made = w.now
	default:
		m.Available, m.Joined, m.Node, m.Since = true, true, NodeReady, w.now
	}
}

// plan plans, holds the plan to its promises, and carries it out.
func (w *world) plan(unreachable string) Plan {
	w.t.Helper()
	around := Around{Now: w.now, Entropy: []byte("dice"), Named: w.named, Unreachable: unreachable}
	plan := For(w.policy, w.machines, around)
	shuffled := slices.Clone(w.machines)
	w.dice.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if diff := cmp.Diff(plan, For(w.policy, shuffled, around)); diff != "" {
		w.fail("planned twice, with two results: %s", diff)
	}
	w.check(plan, unreachable)
	for _, one := range plan.Keep {
		w.find(one.Name).Kept = true
		w.tell("keep %s: %s", one.Name, one.Reason)
	}
	for _, one := range plan.Delete {
		w.find(one.Name).Deleting = true
		w.tell("delete %s: %s", one.Name, one.Reason)
	}
	w.named = plan.NamedThen
	for _, name := range plan.Create {
		if w.given[name] {
			w.fail("%s is the name of another machine that was", name)
		}
		w.given[name] = true
		w.machines = append(w.machines, Machine{Name: name, Revision: w.policy.Revision, Created: w.now})
		w.tell("create %s: %s", name, plan.Why)
	}
	return plan
}

// find finds a machine that a plan names, which has to be there.
func (w *world) find(name string) *Machine {
	w.t.Helper()
	at := slices.IndexFunc(w.machines, func(m Machine) bool { return m.Name == name })
	if at < 0 {
		w.fail("the plan names %s, which is not there", name)
	}
	return &w.machines[at]
}

// check holds a plan to its promises.
func (w *world) check(plan Plan, unreachable string) {
	w.t.Helper()
	existing, available, lost := 0, 0, 0
	for _, m := range w.machines {
		if !m.Kept {
			existing++
		}
		if m.Available && !m.Deleting && !m.Kept {
			available++
		}
	}
	seen := map[string]bool{}
	for _, one := range append(slices.Clone(plan.Delete), plan.Keep...) {
		m := w.find(one.Name)
		if m.Deleting || m.Kept || seen[m.Name] || one.Reason == "" {
			w.fail("%s is deleted or kept twice, or without a reason: %+v", m.Name, one)
		}
		seen[m.Name] = true
		if m.Available {
			lost++
		}
	}
	if lost > 0 && available-lost < w.policy.Desired-w.policy.Unavailable {
		w.fail("%d of %d available machines are taken, and %d less %d are wanted", lost, available, w.policy.Desired, w.policy.Unavailable)
	}
	if existing -= len(plan.Keep); len(plan.Create) > 0 && existing+len(plan.Create) > w.policy.Desired+w.policy.Surge {
		w.fail("%d machines would exist, and %d and %d may", existing+len(plan.Create), w.policy.Desired, w.policy.Surge)
	}
	for _, name := range plan.Create {
		if slices.ContainsFunc(w.machines, func(m Machine) bool { return m.Name == name }) || seen[name] {
			w.fail("%s is made and is there", name)
		}
		seen[name] = true
	}
	if unreachable != "" && (len(plan.Create) > 0 || len(plan.Keep) > 0 || plan.Held == "") {
		w.fail("something is done while the cluster does not answer: %+v", plan)
	}
}

// settle lets everything go well until nothing is left to do.
func (w *world) settle() {
	w.t.Helper()
	for range 200 {
		w.now = w.now.Add(time.Minute)
		w.machines = slices.DeleteFunc(w.machines, func(m Machine) bool { return m.Deleting })
		plan := w.plan("")
		if plan.Held != "" { // somebody looks, as they were asked to, and deletes what failed
			for at := range w.machines {
				w.machines[at].Deleting = w.machines[at].Deleting || w.machines[at].Failed != ""
			}
		}
		for at := range w.machines {
			w.progress(&w.machines[at])
		}
		if plan.IsEmpty() && plan.Held == "" && w.settled() {
			return
		}
	}
	w.fail("it does not converge: %+v %+v", w.policy, w.machines)
}

// settled says whether all is as it should be.
func (w *world) settled() bool {
	count := 0
	for _, m := range w.machines {
		if m.Kept {
			continue
		}
		if m.Deleting || !m.Available || m.Revision != w.policy.Revision {
			return false
		}
		count++
	}
	return count == w.policy.Desired
}

// TestStories plays many lives of pools. The promises hold after each step, and each life ends well.
func TestStories(t *testing.T) {
	for seed := range uint64(150) {
		w := newWorld(t, seed)
		for range 120 {
			w.happen()
			unreachable := ""
			if w.dice.IntN(12) == 0 {
				unreachable = "connection refused"
			}
			w.plan(unreachable)
		}
		w.settle()
	}
}
