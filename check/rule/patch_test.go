// SPDX-License-Identifier: Apache-2.0

package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// TestSwap changes one text of a line, and nothing that has to be guessed.
func TestSwap(t *testing.T) {
	file := &facts.File{Path: "a.yaml", Text: []byte("a: b # b\r\nc: d # why\r\n")}
	want := &rule.Patch{File: "a.yaml", From: 2, To: 2, Lines: []string{"c: e # why\r"}}
	if diff := cmp.Diff(want, rule.Swap(file, 2, "c: d", "c: e")); diff != "" {
		t.Error(diff)
	}
	for name, patch := range map[string]*rule.Patch{
		"twice": rule.Swap(file, 1, "b", "x"), "not there": rule.Swap(file, 2, "b", "x"), "the same": rule.Swap(file, 2, "c", "c"), "no such line": rule.Swap(file, 9, "c", "x"), "no line": rule.Swap(file, 0, "c", "x"),
	} {
		if patch != nil {
			t.Errorf("%s: %+v", name, patch)
		}
	}
}
