// SPDX-License-Identifier: Apache-2.0

package ruletest

import (
	"bytes"
	"slices"
	"testing"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/patch"
	"minos.dev/minos/check/rule"
)

// mend applies the patches of outcomes to the example, and has the rule judge it again: what was mended is mended, and there is nothing
// that could be mended once more.
func mend(t *testing.T, one *rule.Rule, example rule.Example, outcomes []*rule.Outcome) {
	t.Helper()
	patches, said := map[string][]*rule.Patch{}, map[string]bool{}
	for _, outcome := range outcomes {
		if outcome.Patch != nil {
			patches[outcome.Patch.File] = append(patches[outcome.Patch.File], outcome.Patch)
			said[outcome.Text] = true
		}
	}
	if len(patches) == 0 {
		return
	}
	all, err := mended(t, example, patches).Facts()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range slices.Concat(all.Problems, all.Unread) {
		t.Errorf("it is wrong after it was mended: %s", problem)
	}
	for _, outcome := range one.Apply(all) {
		if outcome.Verdict == rule.Failed && (outcome.Patch != nil || said[outcome.Text]) {
			t.Errorf("after it was mended it is still said: %s: %s", where(outcome.Place), outcome.Text)
		}
	}
}

// mended is an example with patches applied. What is named in its .gitignore is ignored.
func mended(t *testing.T, example rule.Example, patches map[string][]*rule.Patch) rule.Example {
	t.Helper()
	files := slices.Clone(example.Files)
	for name, some := range patches {
		at := slices.IndexFunc(files, func(file *facts.File) bool { return file.Path == name })
		if at < 0 {
			files, at = append(files, &facts.File{Path: name, Tracked: true}), len(files)
		}
		change, err := patch.Apply(name, string(files[at].Text), some)
		if err != nil {
			t.Fatal(err)
		}
		if change.Left > 0 || change.Before == change.After {
			t.Errorf("%s: %d patches are left, of %d", name, change.Left, len(some))
		}
		t.Logf("%s", change.Diff())
		files[at] = &facts.File{Path: name, Text: []byte(change.After), Tracked: true}
	}
	for at, file := range files {
		named := slices.ContainsFunc(files, func(one *facts.File) bool {
			return one.Path == ".gitignore" && slices.ContainsFunc(bytes.Split(one.Text, []byte("\n")), func(line []byte) bool { return string(line) == "/"+file.Path })
		})
		files[at] = &facts.File{Path: file.Path, Text: file.Text, Tracked: file.Tracked, Ignored: file.Ignored || named && !file.Tracked}
	}
	example.Files = files
	return example
}
