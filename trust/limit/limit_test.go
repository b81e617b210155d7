// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

var moment = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// source is the n-th source.
func source(n int) netip.Prefix {
	return SourceOf(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
}

func TestSourceOf(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1/32", "::ffff:10.0.0.1": "10.0.0.1/32", "fd00:1:2:3:4:5:6:7": "fd00:1:2:3::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := SourceOf(netip.MustParseAddr(text)); got.String() != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := SourceOf(netip.Addr{}); got != (netip.Prefix{}) {
		t.Error(got)
	}
}

func TestTakeWithinItsRate(t *testing.T) {
	table := NewTable(Rates{Failures: {PerSecond: 1, Burst: 60}}, 10)
	takes := func(n int, at time.Time) (taken int) {
		for range n {
			if table.Take(source(1), Failures, at) {
				taken++
			}
		}
		return taken
	}
	if got := takes(100, moment); got != 60 {
		t.Errorf("at once: %d", got)
	}
	if got := takes(100, moment.Add(10*time.Second)); got != 10 {
		t.Errorf("after ten seconds: %d", got)
	}
	if got := takes(100, moment.Add(-time.Hour)); got != 0 {
		t.Errorf("with the clock set back: %d", got)
	}
	if got := takes(100, moment.Add(time.Hour)); got != 60 {
		t.Errorf("after an hour: %d", got)
	}
	if !table.Take(source(2), Failures, moment) {
		t.Error("another source pays")
	}
	if !table.Take(source(1), Connections, moment) {
		t.Error("another kind has no limit")
	}
}

// A worker with a wrong token tries about seven times a minute, for as long as it is wrong.
func TestOrdinaryRetriesAreNeverLimited(t *testing.T) {
	table := NewTable(Rates{Failures: {PerSecond: 1, Burst: 60}}, 10)
	for minute := range 600 {
		for _, second := range []int{0, 1, 3, 7, 15, 31, 46} {
			if !table.Take(source(1), Failures, moment.Add(time.Duration(minute)*time.Minute+time.Duration(second)*time.Second)) {
				t.Fatalf("limited in minute %d", minute)
			}
		}
	}
}

func TestTableIsBounded(t *testing.T) {
	table := NewTable(Rates{Requests: {PerSecond: 1, Burst: 1}}, 100)
	for n := range 10_000 {
		if !table.Take(source(n), Requests, moment) {
			t.Fatalf("source %d is new", n)
		}
	}
	if table.Len() != 100 || len(table.entries) != 100 {
		t.Errorf("it knows %d", table.Len())
	}
	if table.Take(source(9_999), Requests, moment) {
		t.Error("the latest is forgotten")
	}
	if !table.Take(source(1), Requests, moment) {
		t.Error("the oldest is remembered")
	}
}

func TestMute(t *testing.T) {
	table := NewTable(Rates{}, 10)
	steps := []struct {
		after time.Duration
		count uint64
	}{{0, 1}, {time.Second, 0}, {2 * time.Second, 0}, {time.Minute, 3}, {61 * time.Second, 0}, {3 * time.Minute, 2}}
	for _, step := range steps {
		count, report := table.Mute(source(1), moment.Add(step.after))
		if count != step.count || report != (step.count > 0) {
			t.Errorf("after %s: %d, %v", step.after, count, report)
		}
	}
}

// comers opens n connections of a source and returns their passes; closed counts those that had to go.
func comers(gate *Gate, from netip.Prefix, n int, closed map[int]int) (passes []*Pass, refused Refusal) {
	for i := range n {
		pass, _, refusal := gate.Enter(from, func() { closed[i]++ })
		if refusal != "" {
			return passes, refusal
		}
		passes = append(passes, pass)
	}
	return passes, ""
}

func TestGateSilenceMakesRoom(t *testing.T) {
	gate := NewGate(Room{Connections: 100, PerSource: 50, Handshakes: 10})
	closed := map[int]int{}
	if _, refusal := comers(gate, source(1), 10, closed); refusal != "" {
		t.Fatal(refusal)
	}
	pass, displaced, refusal := gate.Enter(source(2), func() { t.Error("the newcomer was closed") })
	if refusal != "" || !displaced || closed[0] != 1 || len(closed) != 1 {
		t.Fatalf("%q, displaced %v, closed %v", refusal, displaced, closed)
	}
	if !gate.Settle(pass) {
		t.Error("the newcomer has no place")
	}
	if connections, handshaking := gate.Counts(); connections != 10 || handshaking != 9 {
		t.Errorf("%d, %d", connections, handshaking)
	}
	// Even where everybody has one only, the oldest goes: it had the most time.
	gate = NewGate(Room{Connections: 100, PerSource: 50, Handshakes: 3})
	closed = map[int]int{}
	for n := range 3 {
		if _, _, refusal := gate.Enter(source(n), func() { closed[n]++ }); refusal != "" {
			t.Fatal(refusal)
		}
	}
	if _, _, refusal := gate.Enter(source(9), nil); refusal != "" || closed[0] != 1 {
		t.Errorf("%q, %v", refusal, closed)
	}
}

func TestGateKeepsASourceToItsShare(t *testing.T) {
	gate := NewGate(Room{Connections: 100, PerSource: 5, Handshakes: 50})
	closed := map[int]int{}
	passes, refusal := comers(gate, source(1), 5, closed)
	for _, pass := range passes {
		gate.Settle(pass)
	}
	if refusal != "" {
		t.Fatal(refusal)
	}
	if _, _, refusal := gate.Enter(source(1), nil); refusal != RefusedSource {
		t.Errorf("a sixth: %q", refusal)
	}
	gate.Leave(passes[0])
	silent, _, refusal := gate.Enter(source(1), func() { closed[99]++ })
	if refusal != "" {
		t.Fatal(refusal)
	}
	if _, displaced, refusal := gate.Enter(source(1), nil); refusal != "" || !displaced || closed[99] != 1 {
		t.Errorf("its own silent one stays: %q", refusal)
	}
	if gate.Settle(silent) {
		t.Error("one that was displaced has a place")
	}
	gate.Leave(silent)
	gate.Leave(silent)
}

func TestGateFullOfConnections(t *testing.T) {
	gate := NewGate(Room{Connections: 6, PerSource: 5, Handshakes: 50})
	closed := map[int]int{}
	greedy, _ := comers(gate, source(1), 4, closed)
	modest, _ := comers(gate, source(2), 2, map[int]int{})
	for _, pass := range append(greedy, modest...) {
		gate.Settle(pass)
	}
	if _, _, refusal := gate.Enter(source(3), nil); refusal != "" || closed[0] != 1 {
		t.Errorf("the greediest did not make room: %q, %v", refusal, closed)
	}
	if _, _, refusal := gate.Enter(source(1), nil); refusal != RefusedFull {
		t.Errorf("the greediest gets more: %q", refusal)
	}
}

func TestShut(t *testing.T) {
	gate := NewGate(Room{Connections: 10, PerSource: 10, Handshakes: 10})
	closed := map[int]int{}
	passes, _ := comers(gate, source(1), 3, closed)
	gate.Settle(passes[1])
	gate.Shut()
	if fmt.Sprint(closed) != "map[0:1 2:1]" {
		t.Error(closed)
	}
	if _, _, refusal := gate.Enter(source(2), nil); refusal != RefusedFull {
		t.Errorf("it lets in: %q", refusal)
	}
	for _, pass := range passes {
		gate.Leave(pass)
	}
}

// TestGateCountsRight does anything in any order and holds the counts to what is there.
func TestGateCountsRight(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	room := Room{Connections: 20, PerSource: 8, Handshakes: 6}
	gate := NewGate(room)
	var passes []*Pass
	for range 20_000 {
		switch n := chance.IntN(4); {
		case n < 2 || len(passes) == 0:
			if pass, _, refusal := gate.Enter(source(chance.IntN(6)), func() {}); refusal == "" {
				passes = append(passes, pass)
			}
		case n == 2:
			gate.Settle(passes[chance.IntN(len(passes))])
		default:
			i := chance.IntN(len(passes))
			gate.Leave(passes[i])
			passes = append(passes[:i], passes[i+1:]...)
		}
		connections, handshaking := gate.Counts()
		shares := map[netip.Prefix]share{}
		silent := 0
		for pass := range gate.passes {
			have := shares[pass.source]
			have.passes++
			if pass.handshaking {
				have.handshaking++
				silent++
			}
			shares[pass.source] = have
		}
		if connections > room.Connections || handshaking > room.Handshakes || silent != handshaking || len(shares) != len(gate.sources) {
			t.Fatalf("%d connections, %d handshakes (counted %d), %d sources (counted %d)", connections, handshaking, silent, len(gate.sources), len(shares))
		}
		for source, have := range shares {
			if *gate.sources[source] != have || have.passes > room.PerSource {
				t.Fatalf("%s has %+v, counted %+v", source, *gate.sources[source], have)
			}
		}
	}
}
