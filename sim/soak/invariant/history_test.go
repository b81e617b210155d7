// SPDX-License-Identifier: Apache-2.0

package invariant_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sim/soak/invariant"
)

type (
	snapshot = invariant.Snapshot
	pool     = invariant.Pool
	machine  = invariant.Machine
	instance = invariant.Instance
	node     = invariant.Node
	secret   = invariant.Secret
)

// burst is a pool of some machines, one more of which may be during a roll-out, and of which none may be missing.
func burst(desired int) pool {
	return pool{Cluster: "shop", Name: "burst", Identity: "burst-1", Desired: desired, Surge: 1, Unhealthy: 1, Revision: "a"}
}

// works is a machine of it that does its work; more letters say more: - does not work, d is on its way out, u has failed, k is kept, v is Cluster API's.
func works(name, how string) machine {
	has := func(letter string) bool { return strings.Contains(how, letter) }
	return machine{
		Cluster: "shop", Pool: "burst", Name: name, Identity: name, Available: !has("-"), Deleting: has("d"), Unhealthy: has("u"), Kept: has("k"), Virtual: has("v"),
	}
}

// at is a snapshot of a pool and its machines: name and how it is.
func at(second int, of pool, machines ...string) snapshot {
	now := snapshot{At: time.Duration(second) * time.Second, Pools: []pool{of}}
	for _, text := range machines {
		name, how, _ := strings.Cut(text, " ")
		now.Machines = append(now.Machines, works(name, how))
	}
	return now
}

// rolled is a pool of another revision.
func rolled(of pool) pool {
	of.Revision = "b"
	return of
}

// TestBudgets tells stories of one pool.
func TestBudgets(t *testing.T) {
	gateway := burst(1)
	gateway.Surge, gateway.Unavailable, gateway.Exclusive = 0, 1, true
	deleting := burst(3)
	deleting.Deleting = true
	for name, test := range map[string]struct {
		seen    []snapshot
		excused bool
		want    string // words of the evidence; empty if all is well
	}{
		"it grows":                              {seen: []snapshot{at(0, burst(2)), at(1, burst(2), "a -"), at(2, burst(2), "a", "b")}},
		"one more during a roll-out":            {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, rolled(burst(2)), "a", "b", "c -"), at(2, rolled(burst(2)), "a", "b d", "c")}},
		"two more":                              {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, burst(2), "a", "b", "c -", "d -")}, want: "has 4 machines"},
		"two more, of which one goes":           {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, burst(2), "a", "b d", "c", "d -")}, want: "has 4 machines"},
		"two more of Cluster API's":             {seen: []snapshot{at(0, burst(2), "a v", "b v"), at(1, burst(2), "a v", "b v", "c v-", "d v-")}, want: "has 4 machines"},
		"one of which goes":                     {seen: []snapshot{at(0, burst(2), "a v", "b v"), at(1, burst(2), "a v", "b v", "c v-", "d v-d")}},
		"a kept one is not counted":             {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, burst(2), "a", "b", "c", "d -k")}},
		"it shrinks":                            {seen: []snapshot{at(0, burst(3), "a", "b", "c"), at(1, burst(1), "a", "b", "c"), at(2, burst(1), "a", "b d", "c d")}},
		"it shrinks too far":                    {seen: []snapshot{at(0, burst(3), "a", "b", "c"), at(1, burst(1), "a", "b", "c"), at(2, burst(1), "a d", "b d", "c d")}, want: "0 are left that work, and at least 1 less 0"},
		"one is taken before another works":     {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, rolled(burst(2)), "a", "b d", "c -")}, want: "machine b of pool shop/burst was taken while it worked: 1 are left"},
		"one vanishes":                          {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, burst(2), "a")}, want: "machine b of pool shop/burst was taken"},
		"one that did not work is taken":        {seen: []snapshot{at(0, burst(2), "a", "b -"), at(1, burst(2), "a", "b -d")}},
		"the others fell silent a moment ago":   {seen: []snapshot{at(0, burst(2), "a", "b", "c"), at(5, burst(2), "a -", "b -", "c d")}},
		"the others fell silent long ago":       {seen: []snapshot{at(0, burst(2), "a", "b", "c"), at(1, burst(2), "a -", "b -", "c"), at(20, burst(2), "a -", "b -", "c d")}, want: "machine c of pool shop/burst was taken"},
		"somebody else takes one":               {seen: []snapshot{at(0, burst(2), "a", "b"), at(1, burst(2), "a", "b d")}, excused: true},
		"the pool goes":                         {seen: []snapshot{at(0, burst(3), "a", "b", "c"), at(1, deleting, "a d", "b d", "c d")}},
		"a gateway is replaced":                 {seen: []snapshot{at(0, gateway, "a"), at(1, rolled(gateway), "a d"), at(2, rolled(gateway), "b -")}},
		"one failed machine is replaced":        {seen: []snapshot{at(0, burst(3), "a", "b", "c"), at(1, burst(3), "a", "b", "c -ud")}},
		"two failed machines are replaced":      {seen: []snapshot{at(0, burst(3), "a", "b", "c"), at(1, burst(3), "a", "b -ud", "c -ud")}, want: "2 machines of pool shop/burst are replaced at once"},
		"failed machines go while it rolls out": {seen: []snapshot{at(0, burst(3), "a", "b -u", "c -u"), at(1, rolled(burst(3)), "a", "b -ud", "c -ud")}},
	} {
		t.Run(name, func(t *testing.T) {
			history := invariant.NewHistory()
			if test.excused {
				history.Excuse("shop", "burst")
			}
			var found []invariant.Violation
			for _, now := range test.seen {
				found = append(found, history.See(now)...)
			}
			expect(t, found, invariant.Budgets, test.want)
		})
	}
}

// expect wants violations of one invariant with some words in the evidence, or none.
func expect(t *testing.T, found []invariant.Violation, which, want string) {
	t.Helper()
	if want == "" {
		if len(found) > 0 {
			t.Errorf("it is said to be wrong: %v", found)
		}
		return
	}
	if len(found) == 0 {
		t.Error("nothing is said to be wrong")
	}
	for _, one := range found {
		if one.Invariant != which || !strings.Contains(one.Evidence, want) {
			t.Errorf("%v, want %s: … %s …", one, which, want)
		}
	}
}

// TestTheDead wants a machine that was killed to be nobody's loss when it is taken, and to count as long as nobody notices.
func TestTheDead(t *testing.T) {
	history := invariant.NewHistory()
	expect(t, history.See(at(0, burst(2), "a", "b", "c")), "", "")
	history.Died("a")
	expect(t, history.See(at(1, burst(2), "b", "c")), "", "")
	history.Died("b")
	expect(t, history.See(at(2, burst(1), "b", "c")), "", "")
	expect(t, history.See(at(3, burst(1), "b", "c d")), "", "")
	expect(t, history.See(at(4, burst(1), "b -", "e")), "", "")
	expect(t, history.See(at(20, burst(1), "b -", "e d")), invariant.Budgets, "machine e of pool shop/burst was taken while it worked: 0 are left")
}

// TestBudgetsCountAnew wants what was wanted before all was as declared to be forgotten then.
func TestBudgetsCountAnew(t *testing.T) {
	history := invariant.NewHistory()
	history.Excuse("shop", "burst")
	for second, now := range []snapshot{at(0, burst(5), "a", "b", "c", "d", "e"), at(1, burst(1), "a")} {
		if found := history.See(now); len(found) > 0 {
			t.Fatalf("second %d: %v", second, found)
		}
	}
	history.Settled()
	expect(t, history.See(at(2, burst(1), "a", "f -", "g -")), invariant.Budgets, "has 3 machines")
	expect(t, history.See(at(3, burst(1), "f -")), invariant.Budgets, "machine a of pool shop/burst was taken")
}

// TestAlways tells of what must hold at any moment, beside budgets.
func TestAlways(t *testing.T) {
	gate := func(name string) pool {
		return pool{Cluster: "shop", Name: name, Identity: name, Exclusive: true, Desired: 1, Unavailable: 1}
	}
	of := func(pool, name, instance string) machine {
		return machine{Cluster: "shop", Pool: pool, Name: name, Identity: name, Instance: instance}
	}
	has := func(name, id string) instance {
		return instance{Place: "cloud", Name: name, ID: id}
	}
	gates := []pool{gate("east"), gate("west")}
	for name, test := range map[string]struct {
		seen        []snapshot
		which, want string
	}{
		"one gateway": {seen: []snapshot{{Pools: gates, Machines: []machine{of("east", "e-1", "1")}, Instances: []instance{has("e-1", "1")}}}},
		"two machines": {
			seen:  []snapshot{{Pools: gates, Machines: []machine{of("east", "e-1", ""), of("west", "w-1", "")}}},
			which: invariant.Gateways, want: "cluster shop has 2 machines of a role of which it may have one: e-1, w-1",
		},
		"two instances": {
			seen:  []snapshot{{Pools: gates, Machines: []machine{kept(of("east", "e-1", "")), of("west", "w-1", "")}, Instances: []instance{has("e-1", "1"), has("w-1", "2")}}},
			which: invariant.Gateways, want: "cluster shop has 2 instances of a role of which it may have one: e-1, w-1",
		},
		"gateways of two clusters": {seen: []snapshot{{
			Pools:    []pool{gate("east"), {Cluster: "bank", Name: "east", Identity: "bank", Exclusive: true, Desired: 1}},
			Machines: []machine{of("east", "e-1", ""), {Cluster: "bank", Pool: "east", Name: "e-1", Identity: "other"}},
		}}},
		"another instance for a machine": {
			seen:  []snapshot{{Machines: []machine{of("burst", "b-1", "sim:///1")}}, {Machines: []machine{of("burst", "b-1", "")}}, {Machines: []machine{of("burst", "b-1", "sim:///2")}}},
			which: invariant.Once, want: "machine b-1 of cluster shop had instance sim:///1, and has sim:///2",
		},
		"a second instance of a name": {
			seen:  []snapshot{{Instances: []instance{has("b-1", "1")}}, {}, {Instances: []instance{has("b-1", "2")}}},
			which: invariant.Once, want: "for machine b-1 the cloud has made instance 2, and before that 1",
		},
		"the same instance": {seen: []snapshot{{Instances: []instance{has("b-1", "1")}}, {Instances: []instance{has("b-1", "1")}}}},
		"a secret stays":    {seen: []snapshot{{Secrets: []secret{{"shop", "ca", "x", "1"}}}, {}, {Secrets: []secret{{"shop", "ca", "x", "1"}}}}},
		"a secret changes": {
			seen:  []snapshot{{Secrets: []secret{{"shop", "ca", "x", "1"}}}, {}, {Secrets: []secret{{"shop", "ca", "x", "2"}}}},
			which: invariant.Unchanged, want: "Secret ca of cluster shop holds something else than before",
		},
		"a secret of another cluster of the same name": {seen: []snapshot{{Secrets: []secret{{"shop", "ca", "x", "1"}}}, {Secrets: []secret{{"shop", "ca", "y", "2"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			history := invariant.NewHistory()
			var found []invariant.Violation
			for _, now := range test.seen {
				found = append(found, history.See(now)...)
			}
			expect(t, found, test.which, test.want)
		})
	}
}

// kept is a machine that is kept for study: it is none of its pool any more, and yet what it runs is a gateway.
func kept(m machine) machine {
	m.Kept = true
	return m
}

// TestEveryInvariantIsNamed wants a test to name each.
func TestEveryInvariantIsNamed(t *testing.T) {
	want := []string{
		invariant.Budgets, invariant.Gateways, invariant.Once, invariant.Unchanged, invariant.Orphans, invariant.Homeless, invariant.Secrecy,
		invariant.Converges, invariant.Removed,
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(invariant.All()))); diff != "" {
		t.Error(diff)
	}
}
