// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/command"
)

// An ended is how a command ended.
type ended struct {
	code     int
	out, err string
}

// minos runs the real command, and wants the folder for temporary files to be empty afterwards.
func minos(t *testing.T, args ...string) ended {
	t.Helper()
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	var out, words bytes.Buffer
	root := cli.New(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &words}, cli.Version{})
	root.AddCommand(command.New(), command.NewDev())
	code := cli.Run(t.Context(), root, args)
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("in the folder for temporary files: %v, %v", left, err)
	}
	return ended{code: code, out: out.String(), err: words.String()}
}

// examples are the scenarios that the documentation shows, and some of what happens in each, in any order.
var examples = map[string][]string{
	"join": {
		"shelf-1          -         boots v1.13.9",
		"shelf-2          trustd    reached",
		"shelf-3          ready     reached",
		"as expected: machines shelf-[23] reach ready by 30m",
	},
	"bad-place": {
		"shelf-2          -         create: it was done, and the answer is lost",
		"shelf-2          -         Unsure, so it is asked again in 2s: ",
		"pool workers is scaled to 2",
		"shelf-3          -         NoRoom, so it is asked again in 1m: there is no room",
		"the place behaves in another way",
		"as expected: machines shelf-3 reach ready",
	},
	"upgrade-falls-back": {
		"shelf-3          -         its knobs are turned",
		"shelf-2          -         boots v1.14.1",
		"shelf-3          -         it is asked to upgrade to v1.14.1",
		"as expected: machines shelf-3 reach ready run v1.13.9 have booted 2 times",
	},
	"missing-service": {
		`careless-1       services  service "ext-tailscale" waits for extension service config "tailscale"`,
		"careless-1       cni       reached",
		"careless-1       services  the boot took longer than 1h10m0s: reboots\n",
		"\n  7", // minutes are not turned into hours; on a busy machine they are a few more than seventy
		"gateways-1       ready     reached",
	},
}

// scenarios are where they are.
const scenarios = "../../docs/sim/scenarios"

// TestScenarios plays every scenario that the documentation has, as a user does.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scenarios, "*.yaml"))
	if err != nil || len(files) != len(examples) {
		t.Fatalf("there are %v, and %d are known: %v", files, len(examples), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			got := minos(t, "sim", "run", file)
			if got.code != cli.ExitOK || got.err != "" {
				t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
			}
			for _, line := range examples[name] {
				if !strings.Contains(got.out, line) {
					t.Errorf("the timeline has no %q\n%s", line, got.out)
				}
			}
		})
	}
}

// TestNotAsExpected trusts an upgrade that fell back, and wants to be told for programs too.
func TestNotAsExpected(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(scenarios, "upgrade-falls-back.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	homelab, err := filepath.Abs("../../docs/examples/homelab")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("../../examples/homelab", homelab, "version: v1.13.9", "version: v1.14.1", "by: 90m", "by: 3m").Replace(string(text))
	got := minos(t, "sim", "run", write(t, t.TempDir(), "trusting.yaml", changed), "-o", "json")
	if got.code != cli.ExitFindings || !strings.Contains(got.err, "not all that was expected came true") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	var told struct {
		Timeline []struct{ At, Machine, Step, Message string }
		Result   struct {
			Passed     bool
			Judgements []struct {
				Met bool
				Why string
			}
			Machines []struct{ Name, Version string }
		}
	}
	if err := json.Unmarshal([]byte(got.out), &told); err != nil {
		t.Fatalf("%v\n%s", err, got.out)
	}
	result := told.Result
	if result.Passed || len(told.Timeline) < 10 || len(result.Machines) != 3 || len(result.Judgements) != 2 {
		t.Fatalf("%+v", told)
	}
	if !result.Judgements[0].Met || result.Judgements[1].Met || result.Judgements[1].Why != "shelf-3 runs v1.13.9" {
		t.Errorf("%+v", result.Judgements)
	}
}

// write writes a file and returns its name.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
