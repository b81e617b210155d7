// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/soak/story"
)

// wide are bounds in which everything can happen.
var wide = story.Bounds{Clusters: 2, Pools: 4, Replicas: 3, Acts: 4, Faults: 4, Length: 20 * time.Second, Ends: 5, Patient: true}

// told are the first rounds of a story.
func told(seed uint64, count int, bounds story.Bounds) []story.Round {
	var rounds []story.Round
	world := story.World{}
	for number := range count {
		round := story.Tell(seed, number, world, bounds)
		rounds, world = append(rounds, round), round.After
	}
	return rounds
}

// text is a story as it is printed.
func text(rounds []story.Round) string {
	var lines []string
	for _, round := range rounds {
		for _, deed := range round.Deeds {
			lines = append(lines, deed.String())
		}
	}
	return strings.Join(lines, "\n")
}

// TestTheSameSeedTellsTheSameStory, and another seed another.
func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	first, again, other := told(7, 20, wide), told(7, 20, wide), told(8, 20, wide)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed tells another story: %s", diff)
	}
	if text(first) == text(other) {
		t.Error("another seed tells the same story")
	}
}

// TestEverythingHappens wants every act, fault, part, link, manner and write to occur in a long story.
func TestEverythingHappens(t *testing.T) {
	happened := map[string]bool{}
	for _, round := range told(1, 400, wide) {
		for _, deed := range round.Deeds {
			happened[string(deed.Kind)], happened[deed.What] = true, true
		}
	}
	wanted := []string{
		story.Operator, story.Management, story.ClusterAPI, story.Places,
		story.ToManagement, story.ToPlace, story.ToTenant, story.ToSigner, story.ToServer, story.Gateway,
	}
	for _, kind := range slices.Concat(story.Acts(), story.Faults()) {
		wanted = append(wanted, string(kind))
	}
	wanted = slices.Concat(wanted, story.Manners(), story.Writes(story.House), story.Writes(story.Cloud))
	for _, one := range wanted {
		if !happened[one] {
			t.Errorf("%q never happens", one)
		}
	}
	if got, want := len(story.Manners()), len(conduct.Kinds())+5; got != want {
		t.Errorf("a place misbehaves in %d ways, want %d", got, want)
	}
}

// TestAStoryMakesSense follows many stories, and wants every deed to be possible and the bounds to hold.
func TestAStoryMakesSense(t *testing.T) {
	for seed := range uint64(50) {
		for _, round := range told(seed, 25, wide) {
			judge(t, seed, round)
		}
	}
}

// judge judges one round.
func judge(t *testing.T, seed uint64, round story.Round) {
	t.Helper()
	fail := func(deed story.Deed, why string) {
		t.Errorf("seed %d, round %d: %s: %s", seed, round.Number, deed, why)
	}
	at, wrong, troubled := time.Duration(0), 0, map[string]bool{}
	for _, deed := range round.Deeds {
		if deed.At < at || deed.At >= wide.Length {
			fail(deed, "it is out of order, or too late")
		}
		at = deed.At
		if !deed.IsFault() {
			if deed.For != 0 {
				fail(deed, "what people do has no duration")
			}
			continue
		}
		wrong++
		lasts := deed.Kind != story.KillMachine && deed.Kind != story.JumpClock
		if lasts != (deed.For > 0) {
			fail(deed, "it has no duration, or should have none")
		}
		if (deed.Kind == story.Kill || deed.Kind == story.Cut) && troubled[deed.What] {
			fail(deed, "it happens twice to the same")
		}
		troubled[deed.What] = true
	}
	if wrong != wide.Faults {
		t.Errorf("seed %d, round %d has %d faults, want %d", seed, round.Number, wrong, wide.Faults)
	}
	hold(t, seed, round)
}

// hold holds the world after a round to the bounds.
func hold(t *testing.T, seed uint64, round story.Round) {
	t.Helper()
	if len(round.After.Clusters) > wide.Clusters || round.Ends != round.After.IsEmpty() {
		t.Errorf("seed %d, round %d leaves %v", seed, round.Number, round.After)
	}
	for name, cluster := range round.After.Clusters {
		gateways := 0
		for _, pool := range cluster {
			if pool.Role == story.Gateway {
				gateways++
			}
			if pool.Replicas > wide.Replicas || pool.Replicas < 0 || pool.Role == story.Gateway && pool.Replicas != 1 {
				t.Errorf("seed %d, round %d: cluster %s has the pool %v", seed, round.Number, name, pool)
			}
		}
		if len(cluster)-gateways > wide.Pools {
			t.Errorf("seed %d, round %d: cluster %s has %d pools", seed, round.Number, name, len(cluster))
		}
	}
}

// TestAWorldKnowsWhatWasMade wants a change of a pool that was never made, because it was refused, to make none.
func TestAWorldKnowsWhatWasMade(t *testing.T) {
	world := story.World{}
	for _, deed := range []story.Deed{
		{Kind: story.MakePool, Cluster: "shop", Pool: "burst", What: story.Plain, Place: story.Cloud, Number: 1}, // before its cluster
		{Kind: story.MakeCluster, Cluster: "shop"},
		{Kind: story.ScalePool, Cluster: "shop", Pool: "burst", Number: 3},
		{Kind: story.ResizePool, Cluster: "shop", Pool: "gate-east", Number: 2},
		{Kind: story.DeleteMachine, Cluster: "shop", Pool: "gate-east"},
		{Kind: story.MakePool, Cluster: "shop", Pool: "edge", What: story.Plain, Place: story.House},
		{Kind: story.RemovePool, Cluster: "shop", Pool: "edge"},
	} {
		world = world.After(deed)
	}
	want := story.World{Clusters: map[string]story.Cluster{"shop": {"burst": {Place: story.Cloud, Role: story.Plain, Replicas: 3}}}}
	if diff := cmp.Diff(want, world); diff != "" {
		t.Error(diff)
	}
}

// TestWords holds what is printed, by which a story is read.
func TestWords(t *testing.T) {
	for want, deed := range map[string]story.Deed{
		"+1s     make cluster shop":                                      {At: time.Second, Kind: story.MakeCluster, Cluster: "shop"},
		"+1.5s   make pool shop/burst: 2 of role plain in the cloud":     {At: 1500 * time.Millisecond, Kind: story.MakePool, Cluster: "shop", Pool: "burst", What: story.Plain, Number: 2, Place: story.Cloud},
		"+0s     scale pool shop/burst to 3":                             {Kind: story.ScalePool, Cluster: "shop", Pool: "burst", Number: 3},
		"+0s     kill operator for 2s":                                   {Kind: story.Kill, What: story.Operator, For: 2 * time.Second},
		"+0s     cut operator to place, silently for 2s":                 {Kind: story.Cut, What: story.ToPlace, Silent: true, For: 2 * time.Second},
		"+0s     the place: slow disks for 1s":                           {Kind: story.Misbehave, What: story.SlowDisks, For: time.Second},
		"+0s     jump clock of the place by -10m":                        {Kind: story.JumpClock, Number: -10},
		"+0s     kill machine 1 of pool shop/burst":                      {Kind: story.KillMachine, Cluster: "shop", Pool: "burst", Number: 1},
		"+0s     stop signer shop for 1s":                                {Kind: story.StopSigner, Cluster: "shop", For: time.Second},
		"+0s     meddle with the status of the pool of shop/edge for 1s": {Kind: story.Meddle, What: story.ClearPool, Cluster: "shop", Pool: "edge", For: time.Second},
	} {
		if got := deed.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
