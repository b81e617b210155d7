// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Around is what a decision depends on beside the pool and its machines.
type Around struct {
	Now time.Time
	// Entropy is what names are made from, and Named how many of them the pool has used up. The same give the same names, so that
	// a machine that two make at the same time is one; a name that was used up is not given again.
	Entropy []byte
	Named   int
	// Unreachable is why nothing can be known of the cluster's Nodes; empty if it answers.
	Unreachable string
}

// A Plan is what to do with the machines of a pool, and why.
type Plan struct {
	// Create are the names of the machines to make, Why is what for.
	Create []string
	Why    string
	// Named is how many names are used up by what there is, and NamedThen with what Create makes. Each is to be remembered.
	Named, NamedThen int
	// Keep are the machines to mark as kept, and Delete those to delete, in this order, each with the reason.
	Keep, Delete []Reasoned
	// Held is why something is not done that should be; empty if nothing is held back.
	Held string
	// Counts are what there is.
	Counts Counts
	// Next is when to look again if nothing happens; zero if only an event can change something.
	Next time.Duration
}

// Reasoned is a machine and a sentence.
type Reasoned struct{ Name, Reason string }

// Counts are how many machines there are.
type Counts struct {
	// Existing are all but those that are kept for study; those on their way out are among them.
	Existing int
	// Available are those that do their work, UpToDate those of the newest revision; both without those on their way out.
	Available, UpToDate int
	// Unhealthy are those that have failed and are not dealt with yet, Kept those that are kept for study.
	Unhealthy, Kept int
}

// IsEmpty says whether there is nothing to do.
func (p Plan) IsEmpty() bool { return len(p.Create)+len(p.Keep)+len(p.Delete) == 0 }

// For decides what to do with the machines of a pool. At most desired and surge exist after what it creates, and none that is
// available is deleted if fewer than desired less unavailable would remain.
func For(policy Policy, seen []Machine, around Around) Plan {
	d := newDecision(policy, seen, around)
	switch {
	case around.Unreachable != "":
		d.plan.Held = fmt.Sprintf("nothing is replaced while the cluster cannot be asked about its Nodes: %s", around.Unreachable)
		d.shrink(func(m Machine) bool { return !m.Joined })
	default:
		d.heal()
		d.roll()
		d.shrink(func(Machine) bool { return true })
		d.grow()
	}
	d.plan.NamedThen = d.names.next
	return d.plan
}

// A decision is a plan that is being made. Machines that it deletes or keeps leave live at once.
type decision struct {
	Policy
	around    Around
	plan      Plan
	live      []Machine // in the order in which they would be given up
	taken     map[string]bool
	names     series
	troubled  map[string]string
	existing  int // with those on their way out
	leaving   int // those on their way out that are not available
	available int // of live
	kept      int
	frozen    bool
}

// newDecision counts what there is.
func newDecision(policy Policy, seen []Machine, around Around) *decision {
	d := &decision{Policy: policy, around: around, taken: map[string]bool{}, troubled: map[string]string{}}
	for _, m := range seen {
		d.taken[m.Name] = true
		if m.Kept {
			d.kept++ // it exists and is not one of the pool's any more
			continue
		}
		d.existing++
		switch {
		case !m.Deleting:
			d.count(m)
		case !m.Available:
			d.leaving++
		}
	}
	d.names = series{pool: policy.Pool, entropy: around.Entropy, next: around.Named}
	d.names.skip(d.taken)
	d.plan.Named = d.names.next
	slices.SortFunc(d.live, d.order)
	d.plan.Counts.Existing, d.plan.Counts.Available = d.existing, d.available
	d.plan.Counts.Unhealthy, d.plan.Counts.Kept = len(d.troubled), d.kept
	return d
}

// count counts a machine that stays if nothing else is decided, and looks at its health.
func (d *decision) count(m Machine) {
	d.live = append(d.live, m)
	if m.Available {
		d.available++
	}
	if d.isNewest(m) {
		d.plan.Counts.UpToDate++
	}
	why, when := d.trouble(m, d.around.Now)
	if why != "" {
		d.troubled[m.Name] = why
	}
	if after := when.Sub(d.around.Now); !when.IsZero() && (d.plan.Next == 0 || after < d.plan.Next) {
		d.plan.Next = after
	}
}

// order is which of two machines is given up first: the one that somebody asked for, that has failed, that does not work, that
// never did, that is of an old revision, that is younger.
func (d *decision) order(a, b Machine) int {
	return cmp.Or(
		before(a.First, b.First), before(d.troubled[a.Name] != "", d.troubled[b.Name] != ""), before(!a.Available, !b.Available),
		before(!a.Joined, !b.Joined), before(!d.isNewest(a), !d.isNewest(b)), b.Created.Compare(a.Created),
		strings.Compare(a.Name, b.Name),
	)
}

// before puts what is so before what is not.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// remove deletes a machine.
func (d *decision) remove(m Machine, reason string) {
	d.plan.Delete = append(d.plan.Delete, Reasoned{m.Name, reason})
	d.drop(m)
}

// drop takes a machine out of those that count.
func (d *decision) drop(m Machine) {
	d.live = slices.DeleteFunc(d.live, func(other Machine) bool { return other.Name == m.Name })
	if m.Available {
		d.available--
	}
}

// isSpare says whether enough machines are available without one.
func (d *decision) isSpare(m Machine) bool {
	return !m.Available || d.available-1 >= d.Desired-d.Unavailable
}

// heal replaces machines that have failed, or keeps them, within the budget. Those that are on their way out count: a wave of
// failures must not take the pool down one budget after the other.
func (d *decision) heal() {
	count := len(d.troubled)
	if count > d.Unhealthy {
		d.frozen = true
		d.plan.Held = fmt.Sprintf("%d of %d machines have failed and at most %d may: none is replaced, because something else is likely wrong; %s. Mend it, or raise health.maxUnhealthy",
			count, d.Desired, d.Unhealthy, d.example())
		return
	}
	room := d.Unhealthy - d.leaving
	for _, m := range slices.Clone(d.live) {
		why := d.troubled[m.Name]
		switch {
		case why == "":
		case d.Keep && d.kept < d.Unhealthy:
			d.kept++
			d.existing--
			d.plan.Keep = append(d.plan.Keep, Reasoned{m.Name, why})
			d.drop(m)
		case room > 0:
			room--
			d.remove(m, why)
		}
	}
}

// example is one machine that has failed, with the reason.
func (d *decision) example() string {
	for _, m := range d.live {
		if why := d.troubled[m.Name]; why != "" {
			return fmt.Sprintf("%s: %s", m.Name, why)
		}
	}
	return ""
}

// roll removes machines of old revisions: at once those that never worked, those that do not work as far as enough could work
// without them, and those that work as far as enough do.
func (d *decision) roll() {
	unfinished := 0
	for _, m := range d.live {
		if d.isNewest(m) && !m.Available {
			unfinished++
		}
	}
	for _, m := range slices.Clone(d.live) {
		broken := len(d.live) - (d.Desired - d.Unavailable) - unfinished
		switch {
		case d.isNewest(m):
		case !m.Joined:
			d.remove(m, fmt.Sprintf("it is of revision %s, never worked, and the newest is %s", m.Revision, d.Revision))
		case d.frozen:
		case !m.Available && broken > 0, m.Available && d.isSpare(m):
			d.remove(m, d.outdated(m))
		}
	}
}

// shrink removes what is too many of the newest revision: old ones are the roll-out's. A machine that somebody asked for holds its
// turn until it can be spared.
func (d *decision) shrink(can func(Machine) bool) {
	var newest []Machine
	for _, m := range d.live {
		if d.isNewest(m) {
			newest = append(newest, m)
		}
	}
	for at := range max(0, len(newest)-d.Desired) {
		if m := newest[at]; can(m) && d.isSpare(m) {
			d.remove(m, fmt.Sprintf("%d machines are wanted and there are %d", d.Desired, len(d.live)))
		}
	}
}

// grow makes what is missing of the newest revision, as far as there may be more.
func (d *decision) grow() {
	newest := 0
	for _, m := range d.live {
		if d.isNewest(m) {
			newest++
		}
	}
	count := min(d.Desired-newest, d.Desired+d.Surge-d.existing)
	if count <= 0 {
		return
	}
	d.plan.Create = d.names.make(count, d.taken)
	d.plan.Why = fmt.Sprintf("%d machines of revision %s are wanted and there are %d", d.Desired, d.Revision, newest)
}
