// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/soak"
	"minos.dev/minos/sim/soak/invariant"
)

// soaked runs the real command.
func soaked(t *testing.T, args ...string) (code int, out, words string) {
	t.Helper()
	var printed, said bytes.Buffer
	root := cli.New(cli.Streams{In: strings.NewReader(""), Out: &printed, Err: &said}, cli.Version{})
	root.AddCommand(New())
	code = cli.Run(t.Context(), root, append([]string{"sim", "soak"}, args...))
	return code, printed.String(), said.String()
}

// TestSoakStory prints the story of a seed, the same each time.
func TestSoakStory(t *testing.T) {
	code, out, words := soaked(t, "--seed", "7", "--rounds", "2", "--story")
	if code != cli.ExitOK || words != "" || !strings.HasPrefix(out, "seed 7\nround 0\n  +") || !strings.Contains(out, "\nround 1\n") || !strings.Contains(out, "make cluster shop") {
		t.Errorf("exit %d: %s%s", code, out, words)
	}
	if _, again, _ := soaked(t, "--seed", "7", "--rounds", "2", "--story"); again != out {
		t.Errorf("the second time it is\n%s\nand the first\n%s", again, out)
	}
}

// TestSoakRefused is what cannot be soaked, in one line.
func TestSoakRefused(t *testing.T) {
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "something"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"--story needs --rounds: a story has no end of its own":          {"--story"},
		"--rounds -1 and --for 10m0s: neither may be less than 0":        {"--rounds", "-1"},
		"--dir " + used + " holds something already: something\nhint: a": {"--dir", used},
		`unexpected argument "now"`:                                      {"now"},
	} {
		if code, out, words := soaked(t, args...); code != cli.ExitError || out != "" || !strings.Contains(words, want) {
			t.Errorf("%v: exit %d: %s%s, want %s", args, code, out, words, want)
		}
	}
}

// bad is how a soak went that ended with a violation.
var bad = soak.Summary{
	Seed: 7, Rounds: 3, Took: 81.5, Acts: map[string]int{"make pool": 2}, Faults: map[string]int{"kill: operator": 1}, Machines: 5, Snapshots: 90, Longest: 12,
	Violations: []invariant.Violation{{Invariant: invariant.Gateways, Evidence: "cluster shop has 2 machines"}},
	Story:      []string{"round 3:", "  +1s     kill operator for 2s"}, Logs: "/soak/logs",
}

// TestSoakEnds holds what is printed in the end, for people and for programs.
func TestSoakEnds(t *testing.T) {
	for format, wants := range map[cli.Format][]string{
		cli.FormatTable: {
			"kill: operator                 1\n", "violated: a cluster never has two gateways\nevidence: cluster shop has 2 machines\nseed:     7\nlogs:     /soak/logs\nstory:\nround 3:\n  +1s     kill operator for 2s\n",
		},
		cli.FormatJSON: {`"seed": 7`, `"invariant": "a cluster never has two gateways"`, `"longestConvergence": 12`},
	} {
		var out bytes.Buffer
		err := soakFlags{format: &format}.end(&out, bad)
		if err == nil || err.Error() != "what must never be was seen: a cluster never has two gateways" {
			t.Errorf("%s: %v", format, err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", format, want, out.String())
			}
		}
	}
	good := bad
	good.Violations = nil
	format := cli.FormatTable
	var out bytes.Buffer
	if err := (soakFlags{format: &format}).end(&out, good); err != nil || strings.Contains(out.String(), "violated") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestSoakLines wants passing lines to be seen in a terminal only, and to leave nothing behind.
func TestSoakLines(t *testing.T) {
	lines := []soak.Line{{Text: "round 0 begins"}, {Text: "waits: for a pool", Passing: true}, {Text: "all is as declared"}}
	var plain, drawn bytes.Buffer
	for _, printer := range []*soakPrinter{{out: &plain}, {out: &drawn, screen: &screen{out: &drawn, size: func() (int, int) { return 80, 24 }}}} {
		for _, line := range lines {
			printer.line(line)
		}
	}
	if got, want := plain.String(), "     0.0s  round 0 begins\n     0.0s  all is as declared\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := drawn.String(); !strings.Contains(got, "waits: for a pool\x1b[K\n\x1b[J\x1b[1A\r     0.0s  all is as declared\x1b[K\n") {
		t.Errorf("%q", got)
	}
}

// TestSoakIsNotSilent prints what is waited for, where lines are printed, when nothing else was for a while.
func TestSoakIsNotSilent(t *testing.T) {
	var out bytes.Buffer
	p := &soakPrinter{out: &out}
	for _, line := range []soak.Line{
		{At: time.Second, Text: "round 1 begins"}, {At: 20 * time.Second, Passing: true, Text: "waits: a"}, {At: 31 * time.Second, Passing: true, Text: "waits: b"},
		{At: 40 * time.Second, Passing: true, Text: "waits: c"}, {At: 41 * time.Second, Text: "all is as declared"},
	} {
		p.line(line)
	}
	if want := "     1.0s  round 1 begins\n    31.0s  waits: b\n    41.0s  all is as declared\n"; out.String() != want {
		t.Errorf("it printed\n%s", out.String())
	}
}
