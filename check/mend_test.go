// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
)

// listed is a row of the page about what is mended.
var listed = regexp.MustCompile(`(?m)^\| \[([A-Z]{3}-[0-9]{3})\]\(rules/`)

// TestWhatIsMended holds the page to the rules that have a patch in one of their examples; every package holds its rules to what a patch
// does. A suppression without anything to suppress is found after all rules have judged, and has a test of its own.
func TestWhatIsMended(t *testing.T) {
	found := map[string]bool{"MIN-003": true}
	for _, one := range check.Rules() {
		for _, example := range rule.ParseExamples(one.Examples) {
			all, err := example.Facts()
			if err != nil {
				t.Fatal(err)
			}
			for _, outcome := range one.Apply(all) {
				if outcome.Patch != nil {
					found[one.ID] = true
				}
			}
		}
	}
	page, err := os.ReadFile("../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, row := range listed.FindAllSubmatch(page, -1) {
		said = append(said, string(row[1]))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(found)), said); diff != "" {
		t.Errorf("what is mended (-found +on the page):\n%s", diff)
	}
}
