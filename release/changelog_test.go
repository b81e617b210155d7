// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	releaseHeading = regexp.MustCompile(`^## \[(Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d{2}-\d{2})?$`)
	changelogLink  = regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)
	changeKinds    = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known limits"}
)

// TestChangelog holds the changelog to its form: what is to come first, then releases with a date, each with changes of known kinds.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	var releases []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		kind, isKind := strings.CutPrefix(line, "### ")
		found := releaseHeading.FindStringSubmatch(line)
		switch {
		case isKind && !slices.Contains(changeKinds, kind):
			t.Errorf("%q is no kind of change: %v", kind, changeKinds)
		case strings.HasPrefix(line, "## ") && found == nil:
			t.Errorf("%q is neither [Unreleased] nor a release such as [0.1.0] - 2026-11-30", line)
		case found != nil && (found[1] == "Unreleased") != (found[2] == ""):
			t.Errorf("%q: a release has a date, and what is to come has none", line)
		case found != nil:
			releases = append(releases, found[1])
		}
	}
	if len(releases) == 0 || releases[0] != "Unreleased" {
		t.Errorf("what is to come stands first, and not %v", releases)
	}
	for _, link := range changelogLink.FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("..", link[1])); err != nil {
			t.Error(err)
		}
	}
}
