// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/scenario"
)

// played is set in a process that plays a scenario to be killed.
const played = "MINOS_TEST_PLAY"

func TestMain(m *testing.M) {
	if folder := os.Getenv(played); folder != "" {
		os.Exit(playOn(folder))
	}
	os.Exit(m.Run())
}

// read reads a scenario and its declarations.
func read(ctx context.Context, text, folder string, tell func(scenario.Line)) (scenario.Options, error) {
	parsed, err := scenario.Parse([]byte(text))
	if err != nil {
		return scenario.Options{}, err
	}
	objects, err := cli.ReadObjects(ctx, parsed.Folder)
	return scenario.Options{Scenario: parsed, Objects: objects, Folder: folder, Tell: tell}, err
}

// misfortune is a home lab in a bad place: answers are lost, machines die, an upgrade falls back in silence, and a network is
// missing for a while.
const misfortune = `
folder: ../../docs/examples/homelab
seed: 3
speed: 60
until: 5h
place:
  latency: 1s
  rate: 5
  lag: 5s
  faults:
  - {kind: losesAnswer, times: 1}
  - {kind: refuses, share: 0.3}
steps:
- {await: {reaches: ready}, machines: shelf-2, do: reboot}
- {machines: shelf-3, set: {upgrade: "falls back"}}
- {machines: "shelf-[13]", upgrade: v1.14.1}
- {await: {boots: 2, reaches: ready}, machines: shelf-2, set: {noCNI: true}}
- {await: {machines: shelf-2, stopsAt: cni}, machines: shelf-2, set: {noCNI: false}}
- {await: {reaches: ready}, scale: {workers: 1}}
- {machines: shelf-1, do: stop}
- {at: 5m, machines: shelf-1, do: start}
expect:
- {machines: shelf-2, reaches: ready}
- {machines: shelf-2, boots: 2}
- {machines: shelf-1, version: v1.14.1, reaches: ready}
- {machines: shelf-1, version: v1.14.1, boots: 3, reaches: ready}
- {machines: shelf-3, version: v1.13.9, boots: 2, reaches: ready}
- {machines: shelf-2, stopsAt: cni}
`

// TestPlay plays misfortunes, and wants all that is expected to come true, each thing once.
func TestPlay(t *testing.T) {
	var lines []string
	options, err := read(t.Context(), misfortune, t.TempDir(), func(line scenario.Line) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", line.At, line.Machine, line.Step, line.Message))
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := scenario.Play(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	timeline := strings.Join(lines, "\n")
	if !result.Passed {
		t.Errorf("%+v\n%s", result.Judgements, timeline)
	}
	var names []string
	for _, ending := range result.Machines {
		names = append(names, ending.Name)
	}
	if got := strings.Join(names, " "); got != "shelf-1 shelf-2" {
		t.Errorf("there are %s\n%s", got, timeline)
	}
	for _, told := range []string{"Unsure, so it is asked again", "it is asked to reboot", "pools are scaled", "as expected: machines shelf-2 stop at cni"} {
		if !strings.Contains(timeline, told) {
			t.Errorf("the timeline does not say %q\n%s", told, timeline)
		}
	}
	for _, wrong := range []string{"held back", "it did not"} {
		if strings.Contains(timeline, wrong) {
			t.Errorf("the timeline says %q\n%s", wrong, timeline)
		}
	}
}

// interrupted is what is killed again and again.
const interrupted = `
folder: ../../docs/examples/homelab
speed: 30
until: 2h
place: {latency: 2s, start: 20s}
steps:
- {await: {reaches: ready}, machines: shelf-2, upgrade: v1.14.1}
expect:
- {reaches: ready}
- {machines: shelf-2, version: v1.14.1, reaches: ready}
`

// playOn plays it in this process, and says how it ended.
func playOn(folder string) int {
	options, err := read(context.Background(), interrupted, folder, func(line scenario.Line) {
		_, _ = fmt.Fprintf(os.Stderr, "%s %s %s %s\n", line.At, line.Machine, line.Step, line.Message)
	})
	if err == nil {
		var result scenario.Result
		if result, err = scenario.Play(context.Background(), options); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(result)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestKilled kills the simulator at many moments, and wants it to go on each time: to the same end, with every machine there
// once.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	var result scenario.Result
	for _, life := range []time.Duration{1500, 3500, 4200, 5000, 6100, 0} {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), played+"="+folder)
		words := &strings.Builder{}
		command.Stderr = words
		if life > 0 {
			killAfter(t, command, life*time.Millisecond)
			continue
		}
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, words)
		}
		if err := json.Unmarshal(out, &result); err != nil {
			t.Fatal(err)
		}
		if !result.Passed {
			t.Errorf("%+v\n%s", result.Judgements, words)
		}
	}
	if len(result.Machines) != 3 {
		t.Errorf("there are %+v", result.Machines)
	}
	disks, err := filepath.Glob(filepath.Join(folder, "cloud", "disks", "*"))
	if err != nil || len(disks) != 3 {
		t.Errorf("there are %d disks: %v", len(disks), err)
	}
}

// killAfter starts a program and kills it, as a power cut would.
func killAfter(t *testing.T, command *exec.Cmd, life time.Duration) {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.NewTimer(life)
	defer timer.Stop()
	<-timer.C // how far it gets in that time does not matter
	_ = command.Process.Kill()
	_ = command.Wait()
}
