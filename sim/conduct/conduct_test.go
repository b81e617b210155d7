// SPDX-License-Identifier: Apache-2.0

package conduct_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/sim/conduct"
)

// TestDecide is what happens on which occasion.
func TestDecide(t *testing.T) {
	first := conduct.Occasion{Call: conduct.Create, Machine: "web-1"}
	third := conduct.Occasion{Call: conduct.Create, Machine: "web-1", Before: 2}
	tests := map[string]struct {
		fault conduct.Fault
		on    conduct.Occasion
		want  conduct.Kind
	}{
		"always":                  {conduct.Fault{Kind: conduct.Refuses}, third, conduct.Refuses},
		"the first two":           {conduct.Fault{Kind: conduct.LosesAnswer, Times: 2}, first, conduct.LosesAnswer},
		"not the third":           {conduct.Fault{Kind: conduct.LosesAnswer, Times: 2}, third, ""},
		"another call":            {conduct.Fault{Kind: conduct.Refuses, Calls: []conduct.Call{conduct.Delete}}, first, ""},
		"a call it cannot be":     {conduct.Fault{Kind: conduct.LosesAnswer}, conduct.Occasion{Call: conduct.Get, Machine: "web-1"}, ""},
		"by pattern":              {conduct.Fault{Kind: conduct.Full, Machines: "web-*"}, first, conduct.Full},
		"by another pattern":      {conduct.Fault{Kind: conduct.Full, Machines: "db-*"}, first, ""},
		"a list is not wrong":     {conduct.Fault{Kind: conduct.Omits}, conduct.Occasion{Call: conduct.List}, ""},
		"credentials of any call": {conduct.Fault{Kind: conduct.Revokes}, conduct.Occasion{Call: conduct.List}, conduct.Revokes},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			behaviour := conduct.Behaviour{Faults: []conduct.Fault{test.fault}}
			if err := behaviour.Check(); err != nil {
				t.Fatal(err)
			}
			if got := behaviour.Decide(1, test.on).Wrong; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestShare wants a share to be one, another seed to give another one, and the same seed the same.
func TestShare(t *testing.T) {
	behaviour := conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Share: 0.3}}, Jitter: metav1.Duration{Duration: time.Second}}
	drawn := func(seed uint64) (hit []bool, wait time.Duration) {
		for i := range 2000 {
			decision := behaviour.Decide(seed, conduct.Occasion{Call: conduct.Create, Machine: fmt.Sprint("m", i%50), Before: i / 50})
			hit, wait = append(hit, decision.Wrong != ""), wait+decision.Takes
		}
		return hit, wait / 2000
	}
	one, wait := drawn(1)
	again, _ := drawn(1)
	other, _ := drawn(2)
	if diff := cmp.Diff(one, again); diff != "" {
		t.Error("the same seed gives something else")
	}
	if cmp.Equal(one, other) {
		t.Error("another seed gives the same")
	}
	count := 0
	for _, hit := range one {
		if hit {
			count++
		}
	}
	if count < 500 || count > 700 {
		t.Errorf("%d of 2000 are hit, want about 600", count)
	}
	if wait < 450*time.Millisecond || wait > 550*time.Millisecond {
		t.Errorf("a jitter of a second is %s on average", wait)
	}
}

// TestOrderDoesNotMatter asks at the same time, and wants each machine to have the same luck in every run.
func TestOrderDoesNotMatter(t *testing.T) {
	luck := func() map[string]int {
		keeper := conduct.NewKeeper(7, 1000, conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Share: 0.5}}})
		var mutex sync.Mutex
		var work sync.WaitGroup
		failed := map[string]int{}
		for i := range 200 {
			name := fmt.Sprint("m", i%20)
			work.Go(func() {
				turn, err := keeper.Ask(t.Context(), conduct.Create, name)
				mutex.Lock()
				defer mutex.Unlock()
				if err != nil {
					t.Error(err)
				}
				if turn.Wrong != "" {
					failed[name]++
				}
			})
		}
		work.Wait()
		return failed
	}
	if diff := cmp.Diff(luck(), luck()); diff != "" {
		t.Error(diff)
	}
}

// TestRate wants calls beyond the rate to be told how long to wait, and to be let in after that.
func TestRate(t *testing.T) {
	keeper := conduct.NewKeeper(1, 1, conduct.Behaviour{Rate: 50, Burst: 2})
	ask := func() conduct.Turn {
		turn, err := keeper.Ask(t.Context(), conduct.Get, "m")
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	if first, second := ask(), ask(); first.TooFast+second.TooFast > 0 {
		t.Error("the burst is not let in")
	}
	third := ask()
	if third.TooFast <= 0 || third.TooFast > 20*time.Millisecond {
		t.Errorf("the third is to wait %s", third.TooFast)
	}
	if err := keeper.Pass(t.Context(), third.TooFast); err != nil {
		t.Fatal(err)
	}
	if again := ask(); again.TooFast > 0 {
		t.Errorf("after the wait it is to wait %s more", again.TooFast)
	}
}

// TestLeaves wants a list to leave out what a fault names, and only as often as it says.
func TestLeaves(t *testing.T) {
	keeper := conduct.NewKeeper(1, 1, conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Omits, Machines: "web-*", Times: 1}}})
	var left []bool
	for range 2 {
		turn, err := keeper.Ask(t.Context(), conduct.List, "")
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, turn.Leaves("web-1"), turn.Leaves("db-1"))
	}
	if diff := cmp.Diff([]bool{true, false, false, false}, left); diff != "" {
		t.Error(diff)
	}
}

// TestPassEnds wants a wait to end with its context.
func TestPassEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	keeper := conduct.NewKeeper(1, 1, conduct.Behaviour{Latency: metav1.Duration{Duration: time.Hour}})
	if _, err := keeper.Ask(ctx, conduct.Create, "m"); err == nil {
		t.Error("it waited for an hour")
	}
}

// TestCheck is what a scenario cannot say.
func TestCheck(t *testing.T) {
	tests := map[string]string{
		`latency: -1s`:               "latency: -1s is less than nothing",
		`quota: -1`:                  "quota, rate and burst: less than 0",
		`faults: [{kind: explodes}]`: `faults[0].kind: "explodes" is not one of`,
		`faults: [{kind: omits, calls: [create]}]`:           `faults[0].calls: omits cannot happen to "create"`,
		`faults: [{kind: refuses, machines: "[", times: 1}]`: `faults[0].machines: "[" is not a pattern`,
		`faults: [{kind: refuses}, {kind: full, share: 2}]`:  "faults[1].share: 2 is not between 0 and 1",
		`faults: [{kind: full, times: -2}]`:                  "faults[0].times: -2 is less than nothing",
	}
	for text, want := range tests {
		var behaviour conduct.Behaviour
		if err := yaml.UnmarshalStrict([]byte(text), &behaviour); err != nil {
			t.Fatal(err)
		}
		if err := behaviour.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestSet wants what is counted to begin anew with a behaviour: the first call is the first one again.
func TestSet(t *testing.T) {
	once := conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Times: 1}}}
	keeper := conduct.NewKeeper(1, 1, once)
	for at, want := range []conduct.Kind{conduct.Refuses, "", conduct.Refuses, ""} {
		if at == 2 {
			keeper.Set(once)
		}
		if turn, err := keeper.Ask(t.Context(), conduct.Create, "a"); err != nil || turn.Wrong != want {
			t.Errorf("call %d: %q, %v, want %q", at, turn.Wrong, err, want)
		}
	}
}

// TestRateIsScaled wants a rate to be one of simulated time: a call in ten seconds is one in a second, ten times as fast.
func TestRateIsScaled(t *testing.T) {
	keeper := conduct.NewKeeper(1, 10, conduct.Behaviour{Rate: 0.1})
	for at := range 2 {
		turn, err := keeper.Ask(t.Context(), conduct.Get, "a")
		if err != nil || at == 0 != (turn.TooFast == 0) || turn.TooFast > time.Second {
			t.Errorf("call %d: wait for %s, %v", at, turn.TooFast, err)
		}
	}
}
