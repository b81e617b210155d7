// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sizes are the sizes that a variable names, such as 10,20,50, or the full ones.
func sizes(t testing.TB, variable string, full ...int) []int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return full
	}
	var found []int
	for word := range strings.SplitSeq(text, ",") {
		size, err := strconv.Atoi(word)
		if err != nil || size < 10 { // or there is no tenth
			t.Fatalf("%s is %q: give sizes such as 10,20,50", variable, text)
		}
		found = append(found, size)
	}
	if !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) < len(found) {
		t.Fatalf("%s is %q: each size must be larger than the one before", variable, text)
	}
	return found
}

// before is the size before one, and nothing before the first.
func before(sizes []int, at int) int {
	if at == 0 {
		return 0
	}
	return sizes[at-1]
}

// report prints figures as a line of their own. What was measured was measured once: the time of this says nothing.
func report(b *testing.B, name string, figures map[string]float64) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for b.Loop() { // nothing is left to be done
		}
		b.ReportMetric(0, "ns/op")
		for unit, figure := range figures {
			b.ReportMetric(figure, unit)
		}
	})
}

// milliseconds are those of a duration.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
