// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is made from testdata/results.txt")

// TestPageIsCurrent holds the page and its plots to the results that are kept beside them.
func TestPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	made, err := files(string(text))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	plots, err := filepath.Glob("*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(plots, "../bench.md") {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Join("bench", name)] = string(content)
	}
	if diff := cmp.Diff(made, found); diff != "" {
		t.Errorf("run 'go run ./docs/bench', and remove plots that are no longer made (-results +pages):\n%s", diff)
	}
}

// TestGolden holds page and plots of a small run to what they were.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/results.txt")
	if err != nil {
		t.Fatal(err)
	}
	made, err := files(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range made {
		golden := filepath.Join("testdata", filepath.Base(name)+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), content); diff != "" {
			t.Errorf("%s (go test ./docs/bench -update):\n%s", name, diff)
		}
		if strings.HasSuffix(name, ".svg") {
			wellFormed(t, name, content)
		}
	}
	for _, want := range []string{"**The machine was busy", "**Not one run of `make bench`**: the parts were run one by one.", "**Not in full**: *One cluster, many machines* went up to 300", "**not kept**", "## Not in this run"} {
		if !strings.Contains(made["bench.md"], want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// wellFormed wants a picture to be one that a browser shows.
func wellFormed(t *testing.T, name, content string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(content)); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// What benchmarks look like, and how make runs them.
var (
	benchmarkFunction = regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`)
	benchmarkCommand  = regexp.MustCompile(`(?m)^\tgo test -run '\^\$\$' -bench (\S+) .*?(\./\S+) \$\(KEEP\)$`)
)

// TestEveryBenchmarkIsOnThePage wants every benchmark that make runs to have a subject, and make to run every subject.
func TestEveryBenchmarkIsOnThePage(t *testing.T) {
	known, found := map[string]bool{}, map[string]bool{}
	for _, one := range subjects {
		known[one.benchmark] = true
	}
	for _, one := range ratios {
		if !known[one.benchmark] {
			t.Errorf("a ratio is of %s, which has no subject", one.benchmark)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range benchmarkCommand.FindAllStringSubmatch(string(makefile), -1) {
		pattern, err := regexp.Compile(strings.Trim(command[1], "'"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range benchmarksIn(t, filepath.Join("../..", command[2])) {
			if pattern.MatchString("Benchmark" + name) {
				found[name] = true
			}
		}
	}
	if diff := cmp.Diff(found, known); diff != "" {
		t.Errorf("what make runs and what the page tells of differ (-make +page):\n%s", diff)
	}
}

// benchmarksIn are the benchmarks of a folder.
func benchmarksIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range benchmarkFunction.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

func TestMachine(t *testing.T) {
	now := time.Date(2026, time.November, 15, 23, 30, 0, 0, time.FixedZone("here", -3600))
	system := map[string]string{
		"/proc/meminfo": "MemTotal:       16777216 kB\nMemFree: 1 kB\n", "/proc/loadavg": "0.52 0.58 0.59 1/467 12345\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := system[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	lines := func() string { return machine(read, now) }
	for _, want := range []string{"date: 2026-11-16\n", "memory: 16 GiB\n", "load: 0.52\n"} {
		if !strings.Contains(lines(), want) {
			t.Errorf("%q is not in\n%s", want, lines())
		}
	}
	system["/sys/fs/cgroup/memory.max"] = "max\n"
	if !strings.Contains(lines(), "memory: 16 GiB\n") {
		t.Errorf("no limit is one:\n%s", lines())
	}
	system["/sys/fs/cgroup/memory.max"] = "8589934592\n"
	if !strings.Contains(lines(), "memory: 8 GiB\n") {
		t.Errorf("a limit is none:\n%s", lines())
	}
	if _, err := parse(lines() + "BenchmarkA 1 2 s\n"); err != nil {
		t.Error(err)
	}
}
