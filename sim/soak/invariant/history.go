// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"fmt"
	"time"
)

// lately is how long a machine that does its work no more counts as if it did: whoever decided may have seen it a moment earlier.
const lately = 10 * time.Second

// A History is what was seen until now. It holds every snapshot to what must hold at any moment.
type History struct {
	last     Snapshot
	pools    map[string]past          // by identity
	worked   map[string]time.Duration // when a machine last did its work, by identity
	instance map[string]string        // of a machine, by identity
	made     map[string]string        // the instance of a name in a place
	secrets  map[string]string
	excused  map[string]bool // pools that somebody else took machines from, by cluster and name
	dead     map[string]bool // machines that were killed, by identity
}

// A past is what is known of a pool since all was as declared.
type past struct {
	least, most int // what was desired
	revision    string
	rolls       bool // there was another revision
	surge       int  // the most
	unavailable int  // the most
}

// NewHistory returns one in which nothing was seen.
func NewHistory() *History {
	return &History{
		pools: map[string]past{}, worked: map[string]time.Duration{}, instance: map[string]string{}, made: map[string]string{},
		secrets: map[string]string{}, excused: map[string]bool{}, dead: map[string]bool{},
	}
}

// Excuse has the budgets of a pool not be held until all is as declared again: somebody else takes machines from it.
func (h *History) Excuse(cluster, pool string) { h.excused[cluster+"/"+pool] = true }

// Died says that a machine was killed: to take it is no loss, and between two snapshots it may be noticed, replaced and gone. As long
// as it is not noticed, whoever decides about others counts with it.
func (h *History) Died(identity string) { h.dead[identity] = true }

// See takes a snapshot and says what is wrong with it.
func (h *History) See(now Snapshot) []Violation {
	h.remember(now)
	var found []Violation
	for _, pool := range now.Pools {
		found = append(found, h.budgets(pool, now)...)
	}
	found = append(found, gateways(now)...)
	found = append(found, h.once(now)...)
	found = append(found, h.unchanged(now)...)
	h.last = now
	return found
}

// Settled says that all is as declared at the last snapshot, from which budgets count anew.
func (h *History) Settled() {
	clear(h.pools)
	clear(h.excused)
	h.remember(h.last)
}

// remember notes what pools want and which machines work.
func (h *History) remember(now Snapshot) {
	for _, pool := range now.Pools {
		before, known := h.pools[pool.Identity]
		if !known {
			before = past{least: pool.Desired, most: pool.Desired, revision: pool.Revision}
		}
		h.pools[pool.Identity] = past{
			least: min(before.least, pool.Desired), most: max(before.most, pool.Desired), revision: pool.Revision,
			rolls: before.rolls || before.revision != pool.Revision,
			surge: max(before.surge, pool.Surge), unavailable: max(before.unavailable, pool.Unavailable),
		}
	}
	for _, machine := range now.Machines {
		if machine.Available && !machine.Deleting {
			h.worked[machine.Identity] = now.At
		}
	}
}

// budgets holds a pool to what a roll-out and a repair may disturb.
func (h *History) budgets(pool Pool, now Snapshot) []Violation {
	if pool.Deleting || h.excused[pool.key()] {
		return nil
	}
	known := h.pools[pool.Identity]
	count, mending := counts(pool, now)
	var found []Violation
	if limit := known.most + known.surge; count > limit {
		found = append(found, violation(Budgets, "pool %s has %d machines, and at most %d and %d more may be: %s", pool.key(), count, known.most, known.surge, names(pool, now)))
	}
	if left, limit := h.working(pool, now), known.least-known.unavailable; left < limit {
		for _, machine := range h.taken(pool, now) {
			found = append(found, violation(Budgets, "machine %s of pool %s was taken while it worked: %d are left that work, and at least %d less %d must: %s",
				machine.Name, pool.key(), left, known.least, known.unavailable, names(pool, now)))
		}
	}
	if known.least == known.most && !known.rolls && mending > pool.Unhealthy {
		found = append(found, violation(Budgets, "%d machines of pool %s are replaced at once because they failed, and at most %d may be: %s", mending, pool.key(), pool.Unhealthy, names(pool, now)))
	}
	return found
}

// counts are how many machines a pool has against its surge, and how many of them are being replaced because they failed.
func counts(pool Pool, now Snapshot) (all, mending int) {
	for _, machine := range now.Machines {
		if !machine.in(pool) {
			continue
		}
		if !machine.Virtual || !machine.Deleting {
			all++
		}
		if machine.Deleting && machine.Unhealthy {
			mending++
		}
	}
	return all, mending
}

// working is how many machines of a pool stay and do their work, or did until a moment ago.
func (h *History) working(pool Pool, now Snapshot) int {
	count := 0
	for _, machine := range now.Machines {
		at, ever := h.worked[machine.Identity]
		if machine.in(pool) && !machine.Deleting && ever && now.At-at <= lately {
			count++
		}
	}
	return count
}

// taken are the machines that did their work and stayed at the snapshot before, and are on their way out, or gone. One that has
// failed in between is none of them.
func (h *History) taken(pool Pool, now Snapshot) []Machine {
	stays := map[string]bool{}
	for _, machine := range now.Machines {
		stays[machine.Identity] = !machine.Deleting || machine.Kept || machine.Unhealthy
	}
	var found []Machine
	for _, machine := range h.last.Machines {
		if machine.in(pool) && machine.Available && !machine.Deleting && !machine.Unhealthy && !h.dead[machine.Identity] && !stays[machine.Identity] {
			found = append(found, machine)
		}
	}
	return found
}

// names are the machines of a pool, and how they are.
func names(pool Pool, now Snapshot) string {
	text := ""
	for _, machine := range now.Machines {
		if !machine.in(pool) {
			continue
		}
		state := "does not work"
		if machine.Available {
			state = "works"
		}
		if machine.Deleting {
			state += " and goes"
		}
		text += fmt.Sprintf("%s %s; ", machine.Name, state)
	}
	if text == "" {
		return "there are none"
	}
	return text[:len(text)-2]
}
