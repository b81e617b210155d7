// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// SourceOf is what is counted as one source: an address, or the /64 that one machine can have all of.
func SourceOf(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // the zero address: those without one are one source
	}
	return prefix
}

// A Kind is something that a source does.
type Kind int

const (
	// Connections that it opens.
	Connections Kind = iota
	// Requests that it makes.
	Requests
	// Failures to show a token of ours.
	Failures

	kinds
)

// A Rate is how often something may happen: so many a second in the long run, and so many at once. Zero is no limit.
type Rate struct{ PerSecond, Burst float64 }

// Rates are one for each kind.
type Rates [kinds]Rate

// quiet is the shortest time between two reports about one source.
const quiet = time.Minute

// A Table is what sources did lately. It knows the latest few thousand: an attacker with more addresses than that makes
// it forget, and meets the limits of all connections together instead.
type Table struct {
	rates Rates
	size  int

	mu      sync.Mutex
	entries map[netip.Prefix]*list.Element
	order   *list.List // of *entry, the latest first
}

type entry struct {
	source  netip.Prefix
	buckets [kinds]bucket
	muted   uint64
	told    time.Time
}

// A bucket fills with time and is emptied by use.
type bucket struct {
	level float64
	at    time.Time
}

// NewTable makes a table of at most size sources.
func NewTable(rates Rates, size int) *Table {
	return &Table{rates: rates, size: size, entries: map[netip.Prefix]*list.Element{}, order: list.New()}
}

// Take counts one use and says whether it is within the rate.
func (t *Table) Take(source netip.Prefix, kind Kind, now time.Time) bool {
	rate := t.rates[kind]
	if rate == (Rate{}) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entry(source, now).buckets[kind].take(rate, now)
}

// Mute notes that something was not reported, and says whether it is time for a report of all that was not.
func (t *Table) Mute(source netip.Prefix, now time.Time) (count uint64, report bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.entry(source, now)
	entry.muted++
	if now.Sub(entry.told) < quiet {
		return 0, false
	}
	count, entry.muted, entry.told = entry.muted, 0, now
	return count, true
}

// Len is how many sources it knows.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.order.Len()
}

// entry finds a source, and forgets the one that was not seen for longest if there is no room.
func (t *Table) entry(source netip.Prefix, now time.Time) *entry {
	if element, ok := t.entries[source]; ok {
		t.order.MoveToFront(element)
		return element.Value.(*entry)
	}
	if t.order.Len() >= t.size {
		last := t.order.Back()
		t.order.Remove(last)
		delete(t.entries, last.Value.(*entry).source)
	}
	fresh := &entry{source: source}
	for kind := range fresh.buckets {
		fresh.buckets[kind] = bucket{t.rates[kind].Burst, now}
	}
	t.entries[source] = t.order.PushFront(fresh)
	return fresh
}

func (b *bucket) take(rate Rate, now time.Time) bool {
	if passed := now.Sub(b.at); passed > 0 { // a clock that is set back gives nothing
		b.level = min(rate.Burst, b.level+passed.Seconds()*rate.PerSecond)
	}
	b.at = now
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}
