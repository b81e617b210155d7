// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// seen is a rule that has the word before "bad" as its evidence.
var seen = judging("FLT-001", rule.Error, func(all *facts.Facts, sheet *rule.Sheet) {
	for _, file := range all.Files {
		for _, line := range file.Find("bad") {
			word, _, _ := strings.Cut(file.Lines()[line-1], " ")
			sheet.Fail(all.InTree(file, line), "line %d is wrong", line).Evidence = word
		}
	}
})

// baseline writes a baseline of files, and reads it again.
func baseline(t *testing.T, files map[string]string) *check.Baseline {
	t.Helper()
	text, err := check.NewBaseline(check.Judge(read(t, files), check.Options{Rules: []*rule.Rule{seen}})).Text()
	if err != nil {
		t.Fatal(err)
	}
	found, err := check.ReadBaseline(text)
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return found
}

func TestBaseline(t *testing.T) {
	old := map[string]string{"a.sh": "one bad\ntwo bad\ntwo bad\n"}
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
		gone  int
	}{
		"nothing changed":                  {old, []string{"FLT-001 a.sh known", "FLT-001 a.sh known", "FLT-001 a.sh known"}, 0},
		"lines moved":                      {map[string]string{"a.sh": "\n\ntwo bad\n\none bad\ntwo bad\n"}, []string{"FLT-001 a.sh known", "FLT-001 a.sh known", "FLT-001 a.sh known"}, 0},
		"one more":                         {map[string]string{"a.sh": "one bad\ntwo bad\ntwo bad\nthree bad\n"}, []string{"FLT-001 a.sh known", "FLT-001 a.sh known", "FLT-001 a.sh known", "FLT-001 a.sh"}, 0},
		"one more of those that are known": {map[string]string{"a.sh": "one bad\none bad\ntwo bad\ntwo bad\n"}, []string{"FLT-001 a.sh known", "FLT-001 a.sh", "FLT-001 a.sh known", "FLT-001 a.sh known"}, 0},
		"mended":                           {map[string]string{"a.sh": "two bad\n"}, []string{"FLT-001 a.sh known"}, 2},
		"in another file":                  {map[string]string{"b.sh": "one bad\n"}, []string{"FLT-001 b.sh"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			report := check.Judge(read(t, test.files), check.Options{Rules: []*rule.Rule{seen}, Baseline: baseline(t, old)})
			if diff := cmp.Diff(test.want, verdicts(report)); diff != "" || len(report.Gone) != test.gone {
				t.Errorf("%d gone; %s", len(report.Gone), diff)
			}
		})
	}
}

// TestBaselineOfRulesThatWereNotAsked says nothing of their entries.
func TestBaselineOfRulesThatWereNotAsked(t *testing.T) {
	known := baseline(t, map[string]string{"a.sh": "one bad\n"})
	if report := check.Judge(read(t, nil), check.Options{Rules: []*rule.Rule{word("FLT-002", "x")}, Baseline: known}); len(report.Gone) != 0 {
		t.Errorf("%v", report.Gone)
	}
}

// TestBaselineWithoutEvidence compares what is said, without the numbers of lines in it.
func TestBaselineWithoutEvidence(t *testing.T) {
	said := func(text string) []*rule.Rule {
		return []*rule.Rule{judging("FLT-001", rule.Error, func(all *facts.Facts, sheet *rule.Sheet) { sheet.Fail(all.Whole(), "%s", text) })}
	}
	known := check.NewBaseline(check.Judge(read(t, nil), check.Options{Rules: said("declared in a.yaml:4 already")}))
	for text, want := range map[string]bool{"declared in a.yaml:9 already": true, "declared in b.yaml:4 already": false} {
		if report := check.Judge(read(t, nil), check.Options{Rules: said(text), Baseline: known}); report.Findings[0].Known != want {
			t.Errorf("%s: %v", text, report.Findings[0].Known)
		}
	}
}

func TestBaselineRefused(t *testing.T) {
	for _, text := range []string{"", "[]", `{"version": 2, "findings": []}`, `{"version": 1, "findings": [], "more": 1}`} {
		if _, err := check.ReadBaseline([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
