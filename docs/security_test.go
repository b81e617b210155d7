// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// threat is a line of the table of threats.
var threat = regexp.MustCompile(`(?m)^\| T(\d+) \| (.+) \| (.+) \| (.+) \|$`)

// threats is how many there are. None goes without somebody noticing.
const threats = 25

// TestThreats holds the security model to the code: each threat stands there once, in order, with an answer that tests show.
func TestThreats(t *testing.T) {
	page, err := os.ReadFile("security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := threat.FindAllStringSubmatch(string(page), -1)
	if len(rows) != threats {
		t.Errorf("there are %d threats, and not %d", len(rows), threats)
	}
	for at, row := range rows {
		if row[1] != strconv.Itoa(at+1) {
			t.Errorf("T%s stands where T%d should", row[1], at+1)
		}
		for _, problem := range unproven(row[4]) {
			t.Errorf("T%s: %s", row[1], problem)
		}
	}
}
