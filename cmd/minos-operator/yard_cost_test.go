// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"
	"time"
)

// An expense is what was used and called: until a moment, or between two.
type expense struct {
	at   time.Time
	took time.Duration
	// minos is the processor time of the operator, and all that of everybody: the operator, the API servers, the place with its
	// machines, and the doors that count.
	minos, all time.Duration
	// calls are those to the management cluster; tenant and place are those to the others, by verb.
	calls         tally
	tenant, place map[string]float64
}

// spent is what was used and called until now. An operator that was stopped uses nothing.
func (y *yard) spent() expense {
	y.t.Helper()
	spent := expense{at: time.Now(), calls: y.minos.seen(), tenant: map[string]float64{}, place: map[string]float64{}}
	for verb, count := range y.place.seen() {
		spent.place[verb] = float64(count)
	}
	spent.all = cpuOf(y.t, os.Getpid())
	for process := range children(y.t) {
		if !y.others[process] {
			spent.all += cpuOf(y.t, process)
		}
	}
	if y.operator.alive() != nil {
		return spent
	}
	spent.minos = y.operator.cpu()
	requests, err := y.operator.numbers(y.t.Context(), "rest_client_requests_total", "host", "method")
	if err != nil {
		y.t.Fatal(err)
	}
	for key, count := range requests {
		if host, method, _ := strings.Cut(key, " "); !strings.HasSuffix(y.minos.server.URL, "//"+host) {
			spent.tenant[method] += count
		}
	}
	return spent
}

// since is what came after an earlier one.
func (e expense) since(before expense) expense {
	return expense{
		at: e.at, took: e.at.Sub(before.at), minos: e.minos - before.minos, all: e.all - before.all, calls: e.calls.since(before.calls),
		tenant: less(e.tenant, before.tenant), place: less(e.place, before.place),
	}
}

// less is what numbers are above others.
func less(numbers, others map[string]float64) map[string]float64 {
	left := map[string]float64{}
	for name, number := range numbers {
		left[name] = number - others[name]
	}
	return left
}

// sum is all of them together.
func sum(numbers map[string]float64) float64 {
	total := 0.0
	for _, number := range numbers {
		total += number
	}
	return total
}

// verbs are how often each verb was called.
func (t tally) verbs() map[string]float64 {
	found := map[string]float64{}
	for one, count := range t {
		found[one.verb] += float64(count)
	}
	return found
}

// pay does something and says what it costs: in time and in all until it has come about, and of the operator until all is quiet, for it
// may still have something to write down.
func (y *yard) pay(do func()) expense {
	y.t.Helper()
	before := y.spent()
	do()
	done := y.spent().since(before)
	if y.operator.alive() != nil {
		return done
	}
	y.quiet()
	paid := y.spent().since(before)
	paid.took, paid.all = done.took, done.all
	return paid
}

// restarted starts the operator again, which looks at everything then, and says what that costs. Whatever it writes is an error: it
// found all as it should be.
func (y *yard) restarted() expense {
	y.t.Helper()
	y.operator.stop()
	before := y.spent()
	y.operate()
	machines := 0.0
	for _, count := range y.want {
		machines += float64(count)
	}
	y.looked(map[string]float64{}, map[string]float64{"taloscluster": 1, "nodepool": yardPools, "nodes": 1, "talosmachine": machines})
	spent := y.spent().since(before)
	if wrote := spent.calls.only(call.isWrite); len(wrote) > 0 {
		y.t.Errorf("a look at everything wrote in the management cluster:\n%s", wrote)
	}
	if sum(spent.tenant) > spent.tenant["GET"] {
		y.t.Errorf("a look at everything wrote in the tenant: %v", spent.tenant)
	}
	return spent
}

// nodesAre waits until the tenant has just the Nodes of the machines that are wanted.
func (y *yard) nodesAre(count int) {
	y.t.Helper()
	inside := y.inTenant()
	y.eventually(func(ctx context.Context) error { return nodesAre(ctx, inside, count) })
}
