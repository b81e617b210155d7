// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// verdicts are the findings of a report in short: rule, line, and how it was set aside.
func verdicts(report *check.Report) []string {
	found := []string{}
	for _, finding := range report.Findings {
		text := finding.Rule + " " + finding.File
		if finding.Suppressed != nil {
			text += " suppressed: " + finding.Suppressed.Reason
		}
		if finding.Known {
			text += " known"
		}
		found = append(found, text)
	}
	return found
}

func TestSuppressions(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"on the line": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-001 until 2027-01-31: we know\n"},
			[]string{"FLT-001 a.sh suppressed: we know"},
		},
		"on the line before, with another comment between": {
			map[string]string{"a.tf": "// minos:ignore FLT-001 until 2027-01-31: we know\n// really\n\nbad\n"},
			[]string{"FLT-001 a.tf suppressed: we know"},
		},
		"not on the line after the next": {
			map[string]string{"a.sh": "# minos:ignore FLT-001 until 2027-01-31: we know\nbad\nbad\n"},
			[]string{"FLT-001 a.sh suppressed: we know", "FLT-001 a.sh"},
		},
		"for the whole file": {
			map[string]string{"a.sh": "#!/bin/sh\n# minos:ignore-file FLT-001 until 2027-01-31: we know\nbad\nfine\nbad\n", "b.sh": "bad\n"},
			[]string{"FLT-001 a.sh suppressed: we know", "FLT-001 a.sh suppressed: we know", "FLT-001 b.sh"},
		},
		"ended: the finding is back, and the suppression is one too": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-001 until 2026-11-14: we know\n"},
			[]string{"MIN-003 a.sh", "FLT-001 a.sh"},
		},
		"without a reason": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-001 until 2027-01-31\n"},
			[]string{"MIN-003 a.sh", "FLT-001 a.sh"},
		},
		"of a rule that does not exist": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-999 until 2027-01-31: we know\n"},
			[]string{"MIN-003 a.sh", "FLT-001 a.sh"},
		},
		"of another rule, which finds nothing": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-002 until 2027-01-31: we know\n"},
			[]string{"MIN-003 a.sh", "FLT-001 a.sh"},
		},
		"of a rule that was not asked: nothing is known of it": {
			map[string]string{"a.sh": "bad # minos:ignore FLT-003 until 2027-01-31: we know\n"},
			[]string{"FLT-001 a.sh"},
		},
		"of a rule that is not decided: nothing is known of it": {
			map[string]string{"a.sh": "fine # minos:ignore FLT-004 until 2027-01-31: we know\n"},
			[]string{},
		},
		"of the rule about suppressions": {
			map[string]string{"a.sh": "# minos:ignore MIN-003 until 2027-01-31: we know\nfine # minos:ignore FLT-001 until 2026-01-31: old\n"},
			[]string{"MIN-003 a.sh", "MIN-003 a.sh"},
		},
		"by the settings": {
			map[string]string{".minos-check.yaml": "ignore:\n- {rule: FLT-001, file: old/, until: 2027-01-31, reason: we know}\n", "old/a.sh": "bad\n", "new/a.sh": "bad\n"},
			[]string{"FLT-001 new/a.sh", "FLT-001 old/a.sh suppressed: we know"},
		},
		"in a page nothing is a suppression": {
			map[string]string{"a.md": "bad # minos:ignore FLT-001 until 2027-01-31: we know\n"},
			[]string{"FLT-001 a.md"},
		},
		"on an object, and not on its neighbour": {
			map[string]string{"a.yaml": "kind: Pod\nmetadata:\n  annotations:\n    check.minos.dev/ignore-FLT-001: 'until 2027-01-31: we know'\n  name: bad\n---\nkind: Pod\nmetadata: {name: bad}\n"},
			[]string{"FLT-001 a.yaml suppressed: we know", "FLT-001 a.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			open := judging("FLT-004", rule.Error, func(all *facts.Facts, sheet *rule.Sheet) { sheet.Unknown(all.Whole(), "nobody knows") })
			report := check.Judge(read(t, test.files), check.Options{Rules: withRemarks(t, word("FLT-001", "bad"), word("FLT-002", "worse"), open)})
			if diff := cmp.Diff(test.want, verdicts(report)); diff != "" {
				t.Error(diff)
			}
			for _, finding := range report.Findings {
				if finding.Suppressed != nil && finding.Counts() {
					t.Errorf("%s counts", finding.Text)
				}
			}
		})
	}
}

// TestASuppressionOfAClusterReachesItsMachines bears with what is said of a pool in another file.
func TestASuppressionOfAClusterReachesItsMachines(t *testing.T) {
	files := map[string]string{
		"cluster.yaml": "apiVersion: minos.dev/v1alpha1\nkind: TalosCluster\nmetadata:\n  name: shop\n  annotations:\n    check.minos.dev/ignore-FLT-001: 'until 2027-01-31: we know'\n" +
			"spec:\n  kubernetesVersion: v1.36.3\n  talosVersion: v1.13.9\n  controlPlane: {kamaji: {}}\n",
	}
	said := judging("FLT-001", rule.Error, func(_ *facts.Facts, sheet *rule.Sheet) {
		sheet.Fail(facts.Place{Cluster: "shop", Machine: "one", File: "pools.yaml", Line: 3}, "it is wrong")
		sheet.Fail(facts.Place{Cluster: "bank", Machine: "one", File: "pools.yaml", Line: 9}, "it is wrong")
	})
	report := check.Judge(read(t, files), check.Options{Rules: withRemarks(t, said)})
	if diff := cmp.Diff([]string{"FLT-001 pools.yaml suppressed: we know", "FLT-001 pools.yaml"}, verdicts(report)); diff != "" {
		t.Error(diff)
	}
}

// TestAnUnusedSuppressionCanBeTakenOut looks at the patch.
func TestAnUnusedSuppressionCanBeTakenOut(t *testing.T) {
	text := "fine # minos:ignore FLT-001 until 2027-01-31: we know\n# minos:ignore FLT-001 until 2027-01-31: we know\nfine\n"
	report := check.Judge(read(t, map[string]string{"a.sh": text}), check.Options{Rules: withRemarks(t, word("FLT-001", "bad"))})
	want := []*rule.Patch{{File: "a.sh", From: 1, To: 1, Lines: []string{"fine"}}, {File: "a.sh", From: 2, To: 2, Lines: []string{}}}
	var got []*rule.Patch
	for _, finding := range report.Findings {
		if finding.Severity != rule.Info {
			t.Errorf("%s is of severity %s", finding.Text, finding.Severity)
		}
		got = append(got, finding.Patch)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
