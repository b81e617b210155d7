// SPDX-License-Identifier: Apache-2.0

package conduct

import (
	"encoding/binary"
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"time"
)

// A Decision is what a place does with one call.
type Decision struct {
	// Takes is how long the call takes.
	Takes time.Duration
	// Wrong is what goes wrong; empty if nothing does.
	Wrong Kind
}

// An Occasion is one call: how often the same was asked before tells it from the others.
type Occasion struct {
	Call    Call
	Machine string // empty for a list
	Before  int
}

// Decide says what happens on an occasion. It depends on its arguments only.
func (b Behaviour) Decide(seed uint64, on Occasion) Decision {
	decision := Decision{Takes: b.Latency.Duration + time.Duration(float64(b.Jitter.Duration)*chance(seed, on, "jitter"))}
	for at, fault := range b.Faults {
		if fault.Kind != Omits && fault.hits(seed, on, at) {
			decision.Wrong = fault.Kind
			break
		}
	}
	return decision
}

// Leaves says whether a list leaves a machine out.
func (b Behaviour) Leaves(seed uint64, on Occasion) bool {
	for at, fault := range b.Faults {
		if fault.Kind == Omits && fault.hits(seed, on, at) {
			return true
		}
	}
	return false
}

// hits says whether a fault happens on an occasion.
func (f Fault) hits(seed uint64, on Occasion, at int) bool {
	calls := f.Calls
	if len(calls) == 0 {
		calls = affects[f.Kind]
	}
	if !slices.Contains(calls, on.Call) || f.Times > 0 && on.Before >= f.Times {
		return false
	}
	if matched, _ := path.Match(f.Machines, on.Machine); f.Machines != "" && !matched {
		return false
	}
	return f.Share == 0 || chance(seed, on, strconv.Itoa(at)) < f.Share
}

// chance is a number from 0 to 1 that looks drawn.
func chance(seed uint64, on Occasion, what string) float64 {
	hash := fnv.New64a()
	var bytes [16]byte
	binary.LittleEndian.PutUint64(bytes[:8], seed)
	binary.LittleEndian.PutUint64(bytes[8:], uint64(on.Before)) //nolint:gosec // a count is never negative
	_, _ = hash.Write(bytes[:])
	_, _ = hash.Write([]byte(string(on.Call) + "/" + on.Machine + "/" + what))
	// FNV mixes its last bytes badly into its high bits; one more round does it.
	mixed := hash.Sum64()
	mixed ^= mixed >> 33
	mixed *= 0xff51afd7ed558ccd
	mixed ^= mixed >> 33
	return float64(mixed>>11) / (1 << 53)
}
