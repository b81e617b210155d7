// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is what is to be known of the machine that measures: how large it is and how busy with something else, and not its name.
func machine(read func(string) ([]byte, error), now time.Time) string {
	lines := []string{
		"date: " + now.UTC().Format(time.DateOnly),
		fmt.Sprintf("cores: %d", runtime.GOMAXPROCS(0)),
		"go: " + strings.TrimPrefix(runtime.Version(), "go"),
	}
	if size := memory(read); size > 0 {
		lines = append(lines, fmt.Sprintf("memory: %.0f GiB", float64(size)/(1<<30)))
	}
	if text, err := read("/proc/loadavg"); err == nil {
		lines = append(lines, "load: "+strings.Fields(string(text) + " unknown")[0])
	}
	return strings.Join(lines, "\n") + "\n"
}

// memory is how much there is, in bytes, or what a container may have of it; zero if nobody says.
func memory(read func(string) ([]byte, error)) int64 {
	text, err := read("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, said, _ := strings.Cut(string(text), "MemTotal:")
	said, _, _ = strings.Cut(said, "kB")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
	if err != nil {
		return 0
	}
	size := kilobytes << 10
	if text, err := read("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			size = min(size, limit) // without a limit it says max
		}
	}
	return size
}
