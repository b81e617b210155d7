// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/patch"
	"minos.dev/minos/check/rule"
)

// numbered is a text of numbered lines.
func numbered(count int) string {
	var text strings.Builder
	for at := range count {
		fmt.Fprintf(&text, "line %d\n", at+1)
	}
	return text.String()
}

func TestApply(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		patches []*rule.Patch
		want    string
		left    int
	}{
		"replace":                     {"a\nb\nc\n", []*rule.Patch{{From: 2, To: 2, Lines: []string{"B"}}}, "a\nB\nc\n", 0},
		"remove":                      {"a\nb\nc\n", []*rule.Patch{{From: 1, To: 2}}, "c\n", 0},
		"insert before":               {"a\nb\n", []*rule.Patch{{From: 2, To: 1, Lines: []string{"x", "y"}}}, "a\nx\ny\nb\n", 0},
		"insert at the end":           {"a\nb\n", []*rule.Patch{{From: 3, To: 2, Lines: []string{"c"}}}, "a\nb\nc\n", 0},
		"two, in any order":           {"a\nb\nc\n", []*rule.Patch{{From: 3, To: 3}, {From: 1, To: 1, Lines: []string{"A"}}}, "A\nb\n", 0},
		"the same twice":              {"a\nb\n", []*rule.Patch{{From: 1, To: 1}, {From: 1, To: 1}}, "b\n", 0},
		"one in the way of another":   {"a\nb\nc\n", []*rule.Patch{{From: 1, To: 2}, {From: 2, To: 3}}, "c\n", 1},
		"no end of line at the end":   {"a\nb", []*rule.Patch{{From: 1, To: 1, Lines: []string{"A"}}}, "A\nb", 0},
		"a file that is not there":    {"", []*rule.Patch{{From: 1, To: 0, Lines: []string{"a"}}, {From: 1, To: 0, Lines: []string{"b"}}}, "a\nb\n", 0},
		"everything":                  {"a\n", []*rule.Patch{{From: 1, To: 1}}, "", 0},
		"insert before what is there": {"a\nb\n", []*rule.Patch{{From: 1, To: 0, Lines: []string{"x"}}, {From: 1, To: 1, Lines: []string{"A"}}}, "x\nA\nb\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			change, err := patch.Apply("file", test.text, test.patches)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, change.After); diff != "" || change.Left != test.left {
				t.Errorf("%d left; %s", change.Left, diff)
			}
		})
	}
}

func TestApplyRefusesWhatDoesNotFit(t *testing.T) {
	for _, one := range []*rule.Patch{{From: 0, To: 0}, {From: 2, To: 4}, {From: 3, To: 1}} {
		if _, err := patch.Apply("file", "a\nb\n", []*rule.Patch{one}); err == nil {
			t.Errorf("%+v was applied", one)
		}
	}
}

func TestDiff(t *testing.T) {
	change, err := patch.Apply("a.yaml", numbered(30), []*rule.Patch{
		{From: 5, To: 5, Lines: []string{"five"}}, {From: 8, To: 7, Lines: []string{"new"}}, {From: 25, To: 26},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `--- a.yaml
+++ a.yaml
@@ -2,9 +2,10 @@
 line 2
 line 3
 line 4
-line 5
+five
 line 6
 line 7
+new
 line 8
 line 9
 line 10
@@ -22,8 +23,6 @@
 line 22
 line 23
 line 24
-line 25
-line 26
 line 27
 line 28
 line 29
`
	if diff := cmp.Diff(want, change.Diff()); diff != "" {
		t.Error(diff)
	}
}

// TestDiffOfANewFile is one that other programs take, too.
func TestDiffOfANewFile(t *testing.T) {
	change, err := patch.Apply(".gitignore", "", []*rule.Patch{{From: 1, To: 0, Lines: []string{"/kubeconfig"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("--- .gitignore\n+++ .gitignore\n@@ -0,0 +1,1 @@\n+/kubeconfig\n", change.Diff()); diff != "" {
		t.Error(diff)
	}
}
