// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Bounds are how much may happen.
type Bounds struct {
	// Clusters, Pools of a cluster, and Replicas of a pool are at most so many.
	Clusters, Pools, Replicas int
	// Acts and Faults are how many there are in a round, beside those that begin and end it.
	Acts, Faults int
	// Length is how long a round is told, before it is waited for that all is as declared.
	Length time.Duration
	// Ends is after how many rounds everything is removed.
	Ends int
	// Patient allows what takes minutes to be noticed, such as the silence of a virtual machine.
	Patient bool
}

// A Round is a part of the story, at the end of which all is as declared.
type Round struct {
	Number int
	Deeds  []Deed
	// Before and After are what is declared.
	Before, After World
	// Ends says that everything is removed in it.
	Ends bool
}

// Tell tells one round, after the world that the one before it left.
func Tell(seed uint64, number int, before World, bounds Bounds) Round {
	t := &teller{dice: rand.New(rand.NewPCG(seed, uint64(number))), bounds: bounds, world: before, taken: map[string]bool{}} //nolint:gosec // repeatable on purpose
	round := Round{Number: number, Before: before, Ends: bounds.Ends > 0 && number%bounds.Ends == bounds.Ends-1}
	if before.IsEmpty() {
		t.begin()
	} else {
		for range bounds.Acts {
			t.act()
		}
	}
	if round.Ends {
		t.end()
	}
	t.spread()
	// What goes wrong is what can go wrong with what there was: of what is just being made, little is there.
	aim := before
	if aim.IsEmpty() {
		aim = t.world
	}
	for range bounds.Faults {
		t.fault(aim)
	}
	slices.SortStableFunc(t.deeds, func(a, b Deed) int { return cmp.Compare(a.At, b.At) })
	round.Deeds, round.After = t.deeds, t.world
	return round
}

// A teller is a round that is being told.
type teller struct {
	dice   *rand.Rand
	bounds Bounds
	world  World
	deeds  []Deed
	taken  map[string]bool // what something goes wrong with already
}

// clusters and pools are what those are called that are made. A name that was given before is given again: what is left of the
// one before would be found.
var (
	clusters = []string{"shop", "bank"}
	pools    = []string{"general", "burst", "storage", "edge"}
	gateways = []string{"gate-east", "gate-west"}
)

// add has something happen, after what was added before.
func (t *teller) add(deed Deed) {
	t.deeds = append(t.deeds, deed)
	t.world = t.world.After(deed)
}

// begin makes clusters with pools in both places.
func (t *teller) begin() {
	for _, name := range clusters[:min(t.bounds.Clusters, len(clusters))] {
		if len(t.world.Clusters) > 0 && t.dice.IntN(2) == 0 {
			continue // another round makes it
		}
		made := []Deed{{Kind: MakeCluster, Cluster: name}}
		for at, place := range []Place{House, Cloud} {
			made = append(made, Deed{Kind: MakePool, Cluster: name, Pool: pools[at], Place: place, What: Plain, Number: 1 + t.dice.IntN(t.bounds.Replicas)})
		}
		if t.dice.IntN(2) == 0 {
			made = append(made[1:], made[0]) // pools may come before their cluster
		}
		for _, deed := range made {
			t.add(deed)
		}
	}
}

// end removes everything, pools and their cluster at once.
func (t *teller) end() {
	for _, cluster := range t.world.names() {
		for _, pool := range t.world.Clusters[cluster].names(all) {
			t.add(Deed{Kind: RemovePool, Cluster: cluster, Pool: pool})
		}
		t.add(Deed{Kind: RemoveCluster, Cluster: cluster})
	}
}

// all accepts every pool.
func all(Pool) bool { return true }

// spread gives what happens its times, in order, over the first three quarters of the round.
func (t *teller) spread() {
	times := make([]time.Duration, len(t.deeds))
	for at := range times {
		times[at] = t.within(t.bounds.Length * 3 / 4)
	}
	slices.Sort(times)
	for at := range t.deeds {
		t.deeds[at].At = times[at]
	}
}

// within is a time before another, in tenths of seconds.
func (t *teller) within(limit time.Duration) time.Duration {
	return time.Duration(t.dice.Int64N(max(1, int64(limit/tenth)))) * tenth
}

const tenth = time.Second / 10

// one chooses one of several; of none, nothing.
func one[T any](dice *rand.Rand, from []T) (chosen T, found bool) {
	if len(from) == 0 {
		return chosen, false
	}
	return from[dice.IntN(len(from))], true
}
