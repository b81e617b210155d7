// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOurOwnFilesHoldNoSecrets holds the files of this repository to the rules about secrets that we hold others to. A test vector is
// marked, or made when the test runs.
func TestOurOwnFilesHoldNoSecrets(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "--is-inside-work-tree").Run(); err != nil {
		t.Fatalf("this is no checkout of Git, so that what is tracked is not known: %v", err)
	}
	report, _ := checked(t, "--only", "SEC-001,SEC-002,SEC-003,SEC-005,SEC-006,SEC-007,SEC-022", root)
	for _, finding := range report.Findings {
		t.Errorf("%s:%d: %s: %s: %s", finding.File, finding.Line, finding.Rule, finding.Text, finding.Evidence)
	}
	if report.Summary.Files < 500 {
		t.Errorf("%d files only: this test has lost its object", report.Summary.Files)
	}
}
