// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"minos.dev/minos/sim/machine"
)

// join lets machines join at the same time and returns when all are ready.
func (s *site) join(count int) {
	s.t.Helper()
	text := s.configuration("plain", nil)
	rack := s.newRack(machine.Durations{Deadline: 24 * 365 * time.Hour}) // a boot takes longer when there are many
	var all []*machine.Machine
	for range count {
		all = append(all, s.add(rack, machine.Options{UserData: text}))
	}
	for _, m := range all {
		s.reaches(m, machine.StepReady)
	}
}

// TestMany lets more machines join at once than a rack does jobs at a time.
func TestMany(t *testing.T) {
	newSite(t, "v1.14.1").join(40)
}

// BenchmarkJoin measures machines that join at once, until all are ready, and what one costs while it runs: the API server and
// the signer are on the same processors.
func BenchmarkJoin(b *testing.B) {
	for _, count := range []int{100, 1000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				s := newSite(b, "v1.14.1")
				before, start := memory(), time.Now()
				goroutines := runtime.NumGoroutine()
				s.join(count)
				b.ReportMetric(float64(count)/time.Since(start).Seconds(), "machines/s")
				b.ReportMetric(float64(memory()-before)/float64(count)/1024, "KiB/machine")
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(count), "goroutines/machine")
			}
		})
	}
}

// memory is what is in use.
func memory() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}
