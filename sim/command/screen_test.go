// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/machine"
)

// A terminal shows what is written to it, as far as a screen needs it: lines, the cursor upwards, and what erases.
type terminal struct {
	lines  []string
	row    int
	writes int
}

var escape = regexp.MustCompile(`^\x1b\[([0-9]*)([A-Z])`)

// Write shows it.
func (t *terminal) Write(text []byte) (int, error) {
	t.writes++
	for rest := string(text); rest != ""; {
		for t.row >= len(t.lines) {
			t.lines = append(t.lines, "")
		}
		if found := escape.FindStringSubmatch(rest); found != nil {
			rest = rest[len(found[0]):]
			t.control(found[2], found[1])
			continue
		}
		letter, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		switch letter {
		case '\n':
			t.row++
		case '\r':
		default:
			if written := strings.IndexAny(string(letter)+rest, "\n\x1b"); written >= 0 {
				t.lines[t.row] = (string(letter) + rest)[:written] // what is written begins at the left, and is erased behind
				rest = (string(letter) + rest)[written:]
			}
		}
	}
	return len(text), nil
}

// control does what is not shown.
func (t *terminal) control(what, number string) {
	count, _ := strconv.Atoi(number)
	switch what {
	case "A":
		t.row -= count
	case "J":
		t.lines = t.lines[:min(t.row, len(t.lines))]
	}
}

// TestScreen draws frames that grow, shrink and do not fit, and wants the terminal to show the last one, and only it; what is equal
// is not written again; and what is written afterwards comes behind it.
func TestScreen(t *testing.T) {
	shown := &terminal{lines: []string{"$ minos dev"}, row: 1}
	width, height := 20, 6
	s := &screen{out: shown, size: func() (int, int) { return width, height }}
	for _, frame := range []struct{ lines, want []string }{
		{[]string{"one"}, []string{"one"}},
		{[]string{"one", "two", "three"}, []string{"one", "two", "three"}},
		{[]string{"one", "zwei"}, []string{"one", "zwei"}},
		{[]string{"a line that is longer than the window"}, []string{"a line that is long…"}},
		{strings.Split("1 2 3 4 5 6 7", " "), []string{"1", "2", "3", "4", "  … and 3 lines more"}},
	} {
		s.draw(frame.lines)
		if diff := cmp.Diff(append([]string{"$ minos dev"}, frame.want...), shown.lines); diff != "" {
			t.Error(diff)
		}
		writes := shown.writes
		s.draw(frame.lines)
		if shown.writes != writes {
			t.Error("the same was written again")
		}
	}
	s.leave()
	_, _ = fmt.Fprint(shown, "All is Ready\n\x1b[J")
	if got := shown.lines[len(shown.lines)-1]; got != "All is Ready" || len(shown.lines) != 7 {
		t.Errorf("the terminal shows %q", shown.lines)
	}
}

// TestPortray is the table of a machine that waits, in a window that just has room for it.
func TestPortray(t *testing.T) {
	reached := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	steps := []machine.Progress{
		{Step: machine.StepConfig, Reached: reached}, {Step: machine.StepTrustd, Reason: "trustd does not answer"}, {Step: machine.StepKubelet, Reached: reached},
		{Step: machine.StepNode}, {Step: machine.StepCNI}, {Step: machine.StepServices, Reached: reached}, {Step: machine.StepReady},
	}
	got := portray(dev.Progress{
		Since: 12 * time.Second, Speed: 60, Parts: []dev.PartProgress{{Part: estate.Management, Text: "is ready after 6.1s"}},
		View: dev.View{
			Clusters: []dev.Object{{Name: "shop", Ready: true}},
			Pools:    []dev.Pool{{Object: dev.Object{Name: "gpu", Step: "MachinesReady", Waits: "0 of 1 machines are Ready Nodes"}, Role: "gpu-nvidia", Place: "cloud", Wanted: 1}},
			Machines: []dev.Machine{{Name: "gpu-7kp7f", Pool: "gpu", Steps: steps}},
		},
	})
	want := []string{
		"minos dev, 12s; simulated time passes 60 times as fast",
		"",
		"  management cluster   is ready after 6.1s",
		"  cluster shop         Ready",
		"  pool gpu             0 of 1 machines of role gpu-nvidia in cloud; waits for MachinesReady: 0 of 1 machines are Ready Nodes",
		"",
		"  MACHINE              CONFIG   TRUSTD   KUBELET  NODE     CNI      SERVICES READY",
		"  gpu-7kp7f            ✓        ·        ✓        ·        ·        ✓        ·        trustd does not answer",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClock(t *testing.T) {
	for at, want := range map[time.Duration]string{
		0: "0:00.0", 1540 * time.Millisecond: "0:01.5", 59960 * time.Millisecond: "1:00.0", 71*time.Minute + 9*time.Second: "71:09.0",
	} {
		if got := clock(at); got != want {
			t.Errorf("%s is %s, and should be %s", at, got, want)
		}
	}
}
