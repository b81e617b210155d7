// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// today is when these tests judge.
var today = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// read makes facts of files.
func read(t testing.TB, files map[string]string) *facts.Facts {
	t.Helper()
	source := facts.Source{Git: true, Now: today}
	for path, text := range files {
		source.Files = append(source.Files, &facts.File{Path: path, Text: []byte(text), Tracked: true})
	}
	all, err := facts.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judging is a rule for tests.
func judging(id string, severity rule.Severity, judge func(*facts.Facts, *rule.Sheet)) *rule.Rule {
	return &rule.Rule{ID: id, Title: "test", Severity: severity, Inputs: []facts.Input{facts.Catalogue}, Remedy: "mend it", Judge: judge}
}

// word is a rule that fails for every line with a word in it.
func word(id, text string) *rule.Rule {
	return judging(id, rule.Error, func(all *facts.Facts, sheet *rule.Sheet) {
		for _, file := range all.Files {
			for _, line := range file.Find(text) {
				sheet.Fail(all.InTree(file, line), "it says %s", text)
			}
		}
	})
}

// the rule about suppressions, and two that exist, so that suppressions can name them.
func withRemarks(t *testing.T, more ...*rule.Rule) []*rule.Rule {
	t.Helper()
	own, err := check.Find("MIN-003")
	if err != nil {
		t.Fatal(err)
	}
	return append(more, own)
}

func TestJudgeCountsAndSorts(t *testing.T) {
	all := read(t, map[string]string{"b.sh": "bad\n", "a.sh": "fine\nbad\nbad\n"})
	report := check.Judge(all, check.Options{Rules: []*rule.Rule{
		word("FLT-002", "bad"),
		judging("FLT-001", rule.Warning, func(all *facts.Facts, sheet *rule.Sheet) {
			sheet.Fail(all.Whole(), "it is wrong")
			sheet.Pass(all.Whole())
			sheet.Unknown(all.Whole(), "nobody knows")
		}),
		judging("FLT-003", rule.Info, func(all *facts.Facts, sheet *rule.Sheet) { sheet.Pass(all.Whole()) }),
	}})
	var lines []string
	for _, finding := range report.Findings {
		lines = append(lines, strings.Join([]string{finding.Rule, finding.File, string(rune('0' + finding.Line)), finding.Severity.String()}, " "))
	}
	want := []string{"FLT-001  0 warning", "FLT-002 a.sh 2 error", "FLT-002 a.sh 3 error", "FLT-002 b.sh 1 error"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	sum := check.Summary{Error: 3, Warning: 1, Rules: 3, RulesPassed: 1, RulesUnknown: 1, Files: 2}
	if diff := cmp.Diff(sum, report.Summary); diff != "" {
		t.Error(diff)
	}
	if !report.Reaches(rule.Error) || len(report.Unknown) != 1 || len(report.Rules) != 3 {
		t.Errorf("%+v", report)
	}
}

// TestJudgeIsTheSame judges twice, from files in another order, and wants the same report to the byte.
func TestJudgeIsTheSame(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		files[name+".yaml"] = strings.ReplaceAll(cluster, "shop", name)
	}
	var first []byte
	for range 5 {
		text, err := json.Marshal(check.Judge(read(t, files), check.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if diff := cmp.Diff(string(first), string(text)); diff != "" {
			t.Fatal(diff)
		}
	}
}

const cluster = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata:
  name: shop
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.10}
  controlPlane: {talos: {}}
`

// TestARuleThatBreaksDown is unknown with its reason, hides what it was about to say, and stops nobody.
func TestARuleThatBreaksDown(t *testing.T) {
	report := check.Judge(read(t, map[string]string{"a.sh": "bad\n"}), check.Options{Rules: []*rule.Rule{
		judging("FLT-001", rule.Error, func(*facts.Facts, *rule.Sheet) { panic(errors.New("the token is abcdef.0123456789abcdef")) }),
		judging("FLT-002", rule.Error, func(all *facts.Facts, _ *rule.Sheet) { _ = all.Files[7] }),
		word("FLT-003", "bad"),
	}})
	if len(report.Findings) != 1 || report.Findings[0].Rule != "FLT-003" {
		t.Errorf("the others did not go on: %+v", report.Findings)
	}
	if len(report.Unknown) != 2 {
		t.Fatalf("%d are unknown", len(report.Unknown))
	}
	if text := report.Unknown[0].Text; strings.Contains(text, "abcdef") || !strings.Contains(text, "broke down") {
		t.Error(text)
	}
	if text := report.Unknown[1].Text; !strings.Contains(text, "index out of range") {
		t.Error(text)
	}
}

func TestLacking(t *testing.T) {
	needs := func(id string, inputs ...facts.Input) *rule.Rule {
		one := judging(id, rule.Error, func(*facts.Facts, *rule.Sheet) {})
		one.Inputs = inputs
		return one
	}
	report := check.Judge(read(t, map[string]string{"a.sh": "\n"}), check.Options{Rules: []*rule.Rule{
		needs("FLT-001", facts.Live), needs("FLT-002", facts.Live, facts.Spec), needs("FLT-003", facts.Live, facts.Tree),
	}})
	want := []check.Lack{{Input: facts.Live, Words: "saved facts of a running cluster", Rules: 2}, {Input: facts.Spec, Words: "declarations of Minos", Rules: 1}}
	if diff := cmp.Diff(want, report.Summary.Lacking); diff != "" || report.Summary.RulesUnknown != 2 {
		t.Errorf("%d unknown; %s", report.Summary.RulesUnknown, diff)
	}
}

func TestSelect(t *testing.T) {
	for name, test := range map[string]struct {
		only, skip []string
		has, hasNo string
		fails      string
	}{
		"all":                   {nil, nil, "FLT-001", "", ""},
		"one, in small letters": {[]string{"flt-001"}, nil, "FLT-001", "FLT-002", ""},
		"a group":               {[]string{"FLT"}, nil, "FLT-004", "MIN-001", ""},
		"wildcards":             {[]string{"FLT-00[12]", "MIN-*"}, nil, "MIN-001", "FLT-003", ""},
		"without":               {nil, []string{"FLT"}, "MIN-001", "FLT-001", ""},
		"a group without one":   {[]string{"FLT"}, []string{"FLT-002"}, "FLT-001", "FLT-002", ""},
		"a slip":                {[]string{"FTL-001"}, nil, "", "", `there is no rule "FTL-001"`},
		"a slip in skip":        {nil, []string{"FLTT"}, "", "", `there is no rule "FLTT"`},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := check.Select(test.only, test.skip)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, one := range rules {
				found[one.ID] = true
			}
			if !found[test.has] || test.hasNo != "" && found[test.hasNo] {
				t.Errorf("%v", found)
			}
		})
	}
}
