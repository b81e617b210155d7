// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"minos.dev/minos/trust/command"
)

// TestReferenceIsCurrent holds the generated page of commands to what --help says.
func TestReferenceIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var out, words bytes.Buffer
	if code := command.Main(command.Process{Args: []string{"--help"}, Out: &out, Err: &words}); code != 0 {
		t.Fatalf("exit %d: %s", code, words.String())
	}
	if !strings.Contains(string(page), "\n## minos-signer\n\n```text\n"+out.String()+"```\n") {
		t.Errorf("the page has another --help: run make generate\n%s", out.String())
	}
}
