// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What Linux says of a process in its stat, counted behind its name, which may have blanks.
const (
	statParent = 1
	statUser   = 11
	statSystem = 12
)

// statOf is what Linux says of a process. One that has ended has nothing.
func statOf(process int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// cpuOf is how much a process has computed until now, for itself and in the kernel.
func cpuOf(t testing.TB, process int) time.Duration {
	t.Helper()
	const tick = time.Second / 100 // which Linux promises to programs
	fields := statOf(process)
	if len(fields) <= statSystem {
		t.Fatalf("process %d has ended", process)
	}
	var total time.Duration
	for _, field := range fields[statUser : statSystem+1] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		total += time.Duration(ticks) * tick
	}
	return total
}

// peakOf is the most memory that a process has had, in MB.
func peakOf(t testing.TB, process int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(said)
	if len(fields) == 0 {
		t.Fatalf("process %d does not say how much memory it has had", process)
	}
	kilobytes, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes / 1024
}

// children are the processes that this one has started and that run.
func children(t testing.TB) map[int]bool {
	t.Helper()
	found := map[int]bool{}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	own := strconv.Itoa(os.Getpid())
	for _, folder := range folders {
		process, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			t.Fatal(err)
		}
		if fields := statOf(process); len(fields) > statParent && fields[statParent] == own {
			found[process] = true
		}
	}
	return found
}
