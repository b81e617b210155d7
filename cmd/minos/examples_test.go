// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/cli"
)

// checked is what the command says of a folder, as a program reads it, and how it ends.
func checked(t *testing.T, args ...string) (*check.Report, int) {
	t.Helper()
	var out, words bytes.Buffer
	tree := cli.New(cli.Streams{In: bytes.NewReader(nil), Out: &out, Err: &words}, cli.ReadVersion(version, commit))
	code := cli.Run(t.Context(), tree, append([]string{"check", "--history", "off", "-o", "json"}, args...))
	report := &check.Report{}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		t.Fatalf("%v: exit %d, %v: %s", args, code, err, words.String())
	}
	return report, code
}

// TestExamplesPassTheChecks holds every folder of examples to what is asked of everybody else. What is left are warnings: an example
// is a part of a repository, and has neither pipelines nor hooks.
func TestExamplesPassTheChecks(t *testing.T) {
	folders, err := filepath.Glob("../../docs/examples/*")
	if err != nil || len(folders) < 8 {
		t.Fatalf("%v: %v", folders, err)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue // the page about them
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			report, code := checked(t, "--skip", "CFG-002", folder) // a new example is committed with the change that brings it
			if code != 0 {
				t.Errorf("exit %d", code)
			}
			left := map[string]int{}
			for _, finding := range report.Findings {
				switch {
				case finding.Severity == rule.Error:
					t.Errorf("%s:%d: %s: %s", finding.File, finding.Line, finding.Rule, finding.Text)
				case !finding.Counts():
					t.Errorf("%s:%d: %s is suppressed: an example shows how it is done right", finding.File, finding.Line, finding.Rule)
				case finding.Severity == rule.Warning:
					left[finding.Rule]++
				}
			}
			if report.Summary.RulesPassed < 20 {
				t.Errorf("%d rules hold only: this test has lost its object", report.Summary.RulesPassed)
			}
			t.Logf("warnings: %v", left)
		})
	}
}
