// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
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

// TestReferenceIsCurrent holds the generated page of commands to the tree, flag by flag.
func TestReferenceIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tree := root()
	tree.SetOut(&out)
	if code := cli.Run(t.Context(), tree, []string{"reference"}); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	_, written, _ := strings.Cut(string(page), "\n## minos\n")
	written, _, _ = strings.Cut(written, "\n## minos-operator\n")
	if diff := cmp.Diff("## minos\n"+written, out.String()); diff != "" {
		t.Errorf("run make generate (-written +made):\n%s", diff)
	}
	walk(root(), func(cmd *cobra.Command) {
		if !cmd.Hidden && !strings.Contains(out.String(), "## "+cmd.CommandPath()+"\n") {
			t.Errorf("%s is not on the page", cmd.CommandPath())
		}
	})
}
