// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/format"
	"minos.dev/minos/check/rule"
)

var update = flag.Bool("update", false, "write what is printed into the goldens")

// report is one with something of everything: every severity, a suppression, an entry of a baseline, what is not decided, a patch,
// a place without a file, and text that means something in Markdown and XML.
func report(t *testing.T) *check.Report {
	t.Helper()
	files := []*facts.File{{Path: "a b.sh", Text: []byte("one\ntwo # minos:ignore FLT-002 until 2027-01-31: we know | really\nthree\n"), Tracked: true}}
	all, err := facts.Read(facts.Source{Files: files, Git: true, Now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	at := func(line int) facts.Place { return facts.Place{File: "a b.sh", Line: line, Path: "spec.x"} }
	rules := []*rule.Rule{
		{ID: "FLT-001", Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "mend it", Judge: func(all *facts.Facts, sheet *rule.Sheet) {
			sheet.Fail(at(1), "it is <wrong> & | bad").Patch = &rule.Patch{File: "a b.sh", From: 1, To: 1, Lines: []string{"eins"}}
			sheet.Fail(all.Whole(), "the whole is wrong").Evidence = "it was seen"
			sheet.Fail(facts.Place{Cluster: "shop", Machine: "one"}, "the machine is wrong")
			sheet.FailAs(rule.Warning, facts.Place{File: "old.yaml", Line: 3, Commit: "1234567"}, "it was wrong").Remedy = "rewrite the history"
		}},
		{ID: "FLT-002", Severity: rule.Warning, Inputs: []facts.Input{facts.Tree}, Remedy: "mend it", Judge: func(_ *facts.Facts, sheet *rule.Sheet) {
			sheet.Fail(at(2), "it is odd")
			sheet.Fail(at(3), "it is odd")
			sheet.Unknown(at(1), "nobody knows")
			sheet.Unknown(at(2), "nobody knows")
		}},
		{ID: "FLT-003", Severity: rule.Info, Inputs: []facts.Input{facts.Live}, Judge: func(*facts.Facts, *rule.Sheet) {}},
		{ID: "FLT-004", Severity: rule.Info, Inputs: []facts.Input{facts.Tree}, Remedy: "think", Judge: func(_ *facts.Facts, sheet *rule.Sheet) { sheet.Fail(at(3), "it may be odd") }},
		{ID: "MIN-001", Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Judge: func(all *facts.Facts, sheet *rule.Sheet) { sheet.Pass(all.Whole()) }},
	}
	first := check.Judge(all, check.Options{Rules: rules})
	baseline := check.NewBaseline(first)
	for at, one := range baseline.Findings {
		if one.Rule == "FLT-002" {
			gone := one
			gone.Fingerprint = "gone"
			baseline.Findings = []check.Entry{baseline.Findings[at], gone}
			break
		}
	}
	return check.Judge(all, check.Options{Rules: rules, Baseline: baseline})
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestText(t *testing.T) {
	one := report(t)
	golden(t, "text.txt", format.Text{}.Findings(one)+"\n"+strings.Join(format.Summary(one), "\n")+"\n")
	golden(t, "short.txt", format.Text{Most: 1, Level: rule.Error}.Findings(one))
	coloured := format.Text{Colour: true}.Findings(one)
	if !strings.Contains(coloured, "\x1b[31merror\x1b[0m") {
		t.Errorf("there is no colour: %q", coloured)
	}
}

func TestMarkdown(t *testing.T) { golden(t, "report.md", format.Markdown(report(t))) }

func TestJUnit(t *testing.T) {
	text, err := format.JUnit(report(t), rule.Error)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", string(text))
	var parsed struct {
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, suite := range parsed.Suites {
		for _, one := range suite.Cases {
			if one.Failure != nil {
				failed++
			}
		}
	}
	if failed != 3 || parsed.Failures != 3 || parsed.Skipped != 4 {
		t.Errorf("%d failed, %+v", failed, parsed)
	}
}

func TestExplain(t *testing.T) {
	one, err := check.Find("MIN-005")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.txt", format.Text{}.Explain(one))
}

func TestSarif(t *testing.T) {
	text, err := json.MarshalIndent(format.Sarif(report(t), "v1.2.3"), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.sarif", string(text)+"\n")
	var log any
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	for _, problem := range sarif(log) {
		t.Error(problem)
	}
}
