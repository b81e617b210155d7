// SPDX-License-Identifier: Apache-2.0

package formation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/formation"
	"minos.dev/minos/check/rule"
)

// TestJudgeRunning has the tests judge clusters as they ran.
func TestJudgeRunning(t *testing.T) {
	text, err := examples.ReadFile("testdata/running.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		want []formation.Verdict
		says []string
	}{
		"nodes-only": {
			[]formation.Verdict{formation.Unknown, formation.NotApplicable, formation.NotApplicable, formation.Passes},
			[]string{"a: compute: by the extensions of its image: Ready, stage not known, Talos v1.13.9, kubelet v1.36.3", "a: compute: by the extensions of its image: extensions drbd spin zfs"},
		},
		"labelled": {
			[]formation.Verdict{formation.NotApplicable, formation.Unknown, formation.Unknown, formation.Fails},
			[]string{"a: gateway: by label node-role.kubernetes.io/gateway", "ROL-004: b is no gateway, and its image has tailscale", "ROL-006: what gateway a advertises is in its configuration, which is not known"},
		},
		"not-ready": {
			[]formation.Verdict{formation.Fails, formation.NotApplicable, formation.NotApplicable, formation.Passes},
			[]string{"not Ready, stage running", "UPG-014: a is not Ready"},
		},
		"even-planes": {
			[]formation.Verdict{formation.Fails, formation.NotApplicable, formation.NotApplicable, formation.Passes},
			[]string{"CPL-001: cluster unnamed has 2 control planes", "b: control-plane: by it runs the control plane"},
		},
		"one-unread": {
			[]formation.Verdict{formation.Unknown, formation.NotApplicable, formation.NotApplicable, formation.Passes},
			[]string{"EXT-015: could not read MachineStatuses, Services of b (192.0.2.2): no route to host", "a: plain: by the extensions of its image: Ready, stage running"},
		},
		"stray-gateway": {
			[]formation.Verdict{formation.NotApplicable, formation.Fails, formation.Unknown, formation.Unknown},
			[]string{"ROL-002: other is a gateway of cluster shop, and no pool that is declared has it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, said := running(t, string(text), name)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, said)
			}
			for _, line := range test.says {
				if !strings.Contains(said, line) {
					t.Errorf("there is no %q in:\n%s", line, said)
				}
			}
		})
	}
}

// running is what the tests say of one example: the verdicts, and all words.
func running(t *testing.T, text, name string) (verdicts []formation.Verdict, words string) {
	t.Helper()
	for _, example := range rule.ParseExamples(text) {
		if example.Name != name {
			continue
		}
		all, err := example.Facts()
		if err != nil {
			t.Fatal(err)
		}
		if all, err = all.AsRunning(""); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, result := range formation.JudgeRunning(all) {
			verdicts = append(verdicts, result.Verdict)
			said.WriteString(result.Test + ": " + string(result.Verdict) + ": " + result.Text + "\n")
			for _, seen := range result.Seen {
				said.WriteString("  " + seen.Machine + ": " + seen.Role + ": by " + seen.By + ": " + seen.Text + "\n")
			}
			for _, evidence := range result.Evidence {
				for _, outcome := range evidence.Found {
					said.WriteString("  " + outcome.Rule + ": " + outcome.Text + "\n")
				}
			}
		}
		return verdicts, said.String()
	}
	t.Fatalf("there is no example %s", name)
	return nil, ""
}

// TestOnly has one test asked.
func TestOnly(t *testing.T) {
	text, err := examples.ReadFile("testdata/running.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range rule.ParseExamples(string(text))[:1] {
		all, err := example.Facts()
		if err != nil {
			t.Fatal(err)
		}
		if all, err = all.AsRunning(""); err != nil {
			t.Fatal(err)
		}
		if results := formation.JudgeRunning(all, formation.Names()[3]); len(results) != 1 || results[0].Test != "04-extension-isolation" {
			t.Errorf("%+v", results)
		}
	}
}
