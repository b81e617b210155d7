// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
)

// TestEveryCommandHasItsLine holds the page about the command line to the tree.
func TestEveryCommandHasItsLine(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range root().Commands() {
		if cmd.Name() == "help" || cmd.Hidden {
			continue
		}
		line := "| `" + cmd.CommandPath()
		if !strings.Contains(string(page), line+" ") && !strings.Contains(string(page), line+"`") {
			t.Errorf("docs/cli.md has no line for %q", cmd.CommandPath())
		}
	}
}
