// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const text = `date: 2026-11-15
cores: 2
goos: linux
pkg: minos.dev/minos/cmd/minos-operator
cpu: Some(R) Processor
BenchmarkPools
BenchmarkPools/clusters=60-2     	       1	         1.050 growth	        15.50 minos-calls/pool
BenchmarkPools/clusters=20-2     	       1	         1.000 growth	        15.00 minos-calls/pool
BenchmarkPools/clusters=60/made-by-hand-2 	 1	 22.0 capi-calls/pool
BenchmarkJoin/200            	       2	  1234567 ns/op	 0.61 of-floor
words that nobody asked for: 1
PASS
ok  	minos.dev/minos/cmd/minos-operator	12.3s
`
	found, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := results{
		machine: map[string]string{
			"date": "2026-11-15", "cores": "2", "goos": "linux", "pkg": "minos.dev/minos/cmd/minos-operator", "cpu": "Some(R) Processor",
		},
		lines: []line{
			{"Pools", "clusters=60", map[string]float64{"growth": 1.05, "minos-calls/pool": 15.5}},
			{"Pools", "clusters=20", map[string]float64{"growth": 1, "minos-calls/pool": 15}},
			{"Pools", "clusters=60/made-by-hand", map[string]float64{"capi-calls/pool": 22}},
			{"Join", "200", map[string]float64{"ns/op": 1234567, "of-floor": 0.61}},
		},
	}
	if diff := cmp.Diff(want, found, cmp.AllowUnexported(results{}, line{})); diff != "" {
		t.Error(diff)
	}
	again, err := parse(figuresOnly(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(found, again, cmp.AllowUnexported(results{}, line{})); diff != "" {
		t.Errorf("what is kept says something else: %s", diff)
	}
	if strings.Contains(figuresOnly(text), "nobody asked") {
		t.Errorf("words are kept:\n%s", figuresOnly(text))
	}
	var order []string
	for _, one := range found.sized("Pools") {
		order = append(order, one.variant)
	}
	if diff := cmp.Diff([]string{"clusters=20", "clusters=60"}, order); diff != "" {
		t.Errorf("by size: %s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"", "the results have no figures"},
		"a failure":       {"BenchmarkA 1 2 s\n--- FAIL: BenchmarkB\n", `line 2 of the results is "--- FAIL: BenchmarkB": repeat the run`},
		"a failed run":    {"BenchmarkA 1 2 s\nFAIL\tminos.dev/minos/api\t1s\n", "line 2 of the results is"},
		"a panic":         {"panic: no\nBenchmarkA 1 2 s\n", "line 1 of the results is"},
		"a lonely figure": {"BenchmarkA 1 2\n", "line 1 of the results: A has a figure without a unit"},
		"no figure":       {"BenchmarkA 1 two s\n", `A: "two" is not a figure`},
		"twice":           {"BenchmarkA/x=1-2 1 2 s\nBenchmarkA/x=1-2 1 3 s\n", "line 2 of the results: A x=1 was measured before: keep one of the two"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}
