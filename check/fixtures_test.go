// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

var update = flag.Bool("update", false, "write what is found into the goldens")

// TestFixtures holds three repositories to their exact findings: one that is looked after well, a careless home lab that has never
// seen Minos, and one in which every machine has every extension.
func TestFixtures(t *testing.T) {
	for _, name := range []string{"production", "homelab", "adr004"} {
		t.Run(name, func(t *testing.T) {
			all, err := repository(t, filepath.Join("testdata", name)).Facts()
			if err != nil {
				t.Fatal(err)
			}
			got := lines(check.Judge(all, check.Options{}))
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// repository is the files of a folder, all of them tracked.
func repository(t *testing.T, folder string) rule.Example {
	t.Helper()
	var found rule.Example
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, path)
		found.Files = append(found.Files, &facts.File{Path: filepath.ToSlash(below), Text: text, Tracked: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lines are the findings of a report, one a line.
func lines(report *check.Report) string {
	var text strings.Builder
	for _, finding := range report.Findings {
		_, _ = fmt.Fprintf(&text, "%s %s %s:%d: %s\n", finding.Rule, finding.Severity, finding.File, finding.Line, finding.Text)
	}
	_, _ = fmt.Fprintf(&text, "%d errors, %d warnings, %d notes\n", report.Summary.Error, report.Summary.Warning, report.Summary.Info)
	return text.String()
}
