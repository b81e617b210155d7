// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

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
	var lines, left []string
	folder := t.TempDir()
	options, err := read(t.Context(), misfortune, folder, func(line scenario.Line) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", line.At, line.Machine, line.Step, line.Message))
		if line.Message == "it is gone, with its Node" {
			left = nodes(t, folder)
		}
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
	if diff := cmp.Diff([]string{"shelf-1", "shelf-2"}, left); diff != "" {
		t.Errorf("the Nodes after one was removed: %s\n%s", diff, timeline)
	}
	for _, told := range []string{"Unsure, so it is asked again", "it is asked to reboot", "pool workers is scaled to 1", "as expected: machines shelf-2 stop at cni"} {
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

// nodes are the names of the Nodes while a scenario is played in a folder.
func nodes(t *testing.T, folder string) []string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(folder, "cluster", "plane", "kubeconfig"))
	if err != nil {
		t.Error(err)
		return nil
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Error(err)
		return nil
	}
	found, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return nil
	}
	var names []string
	for _, node := range found.Items {
		names = append(names, node.Name)
	}
	return names
}

// interrupted is what is killed again and again.
const interrupted = `
folder: ../../docs/examples/homelab
speed: 30
until: 5h
pools: {workers: 1}
place: {latency: 2s, start: 20s, quota: 2}
steps:
- {await: {reaches: ready}, scale: {workers: 2}}
- {place: {latency: 2s, start: 20s}}
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
// once, and with the upgrade done that was asked for a moment before a kill.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	start := func() (*exec.Cmd, *strings.Builder) {
		command, words := exec.Command(os.Args[0]), &strings.Builder{}
		command.Env = append(os.Environ(), played+"="+folder)
		command.Stderr = words
		return command, words
	}
	for _, words := range []string{
		"the API server starts", "trustd reached", "behaves in another way", "shelf-3  is made", "it is asked to upgrade",
		" asked to upgrade to factory", "boots v1.14.1",
	} {
		command, _ := start()
		killAt(t, command, words)
	}
	command, words := start()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, words)
	}
	var result scenario.Result
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	if !result.Passed {
		t.Errorf("%+v\n%s", result.Judgements, words)
	}
	if len(result.Machines) != 3 {
		t.Errorf("there are %+v", result.Machines)
	}
	disks, err := filepath.Glob(filepath.Join(folder, "cloud", "disks", "*"))
	if err != nil || len(disks) != 3 {
		t.Errorf("there are %d disks: %v", len(disks), err)
	}
}

// killAt starts a program and kills it when it says something, as a power cut would.
func killAt(t *testing.T, command *exec.Cmd, words string) {
	t.Helper()
	command.Stderr = nil
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, found, all := bufio.NewScanner(said), false, []string{}
	for !found && lines.Scan() {
		found, all = strings.Contains(lines.Text(), words), append(all, lines.Text())
	}
	_ = command.Process.Kill()
	_ = command.Wait()
	if !found {
		t.Fatalf("it never said %q, but\n%s", words, strings.Join(all, "\n"))
	}
}
