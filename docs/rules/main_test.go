// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPagesAreCurrent holds the pages to the rules.
func TestPagesAreCurrent(t *testing.T) {
	found := map[string]string{}
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[file] = string(text)
	}
	if diff := cmp.Diff(pages(), found); diff != "" {
		t.Errorf("run 'make generate' (-rules +pages):\n%s", diff)
	}
}
