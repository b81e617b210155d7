// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/gather"
)

// TestUncommitted tells what Git could give back from what it could not.
func TestUncommitted(t *testing.T) {
	r := newRepo(t)
	r.write("below/new.yaml", "a: 3\n")
	if got, err := gather.Uncommitted(t.Context(), filepath.Join(r.dir, "below"), []string{"new.yaml"}); err != nil || got != "new.yaml" {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	r.commit("below/kept.yaml", "a: 1\n")
	r.commit("below/changed.yaml", "a: 1\n")
	r.write("below/changed.yaml", "a: 2\n")
	r.write("below/newer.yaml", "a: 3\n")
	r.write(".gitignore", "ignored.yaml\n")
	r.write("below/ignored.yaml", "a: 4\n")
	r.write("below/staged.yaml", "a: 5\n")
	r.git("add", "below/staged.yaml")
	tests := map[string]string{
		"kept.yaml": "", "nowhere.yaml": "", "changed.yaml": "changed.yaml", "new.yaml": "", "newer.yaml": "newer.yaml", "ignored.yaml": "ignored.yaml", "staged.yaml": "staged.yaml",
		"kept.yaml nowhere.yaml": "", "kept.yaml changed.yaml newer.yaml": "changed.yaml", "": "",
	}
	for files, want := range tests {
		got, err := gather.Uncommitted(t.Context(), filepath.Join(r.dir, "below"), strings.Fields(files))
		if err != nil || got != want {
			t.Errorf("of %q: %q, want %q: %v", files, got, want, err)
		}
	}
	if _, err := gather.Uncommitted(t.Context(), t.TempDir(), []string{"kept.yaml"}); err == nil || err.Error() != "the folder is not in a Git repository" {
		t.Errorf("without a repository: %v", err)
	}
}

// TestUncommittedExecutesNothing has a repository name a program that Git would ask for the content of a file.
func TestUncommittedExecutesNothing(t *testing.T) {
	r := newRepo(t)
	canary := filepath.Join(t.TempDir(), "canary")
	r.write("program", "#!/bin/sh\necho called >> "+canary+"\ncat\n")
	if err := os.Chmod(filepath.Join(r.dir, "program"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".gitattributes", "* filter=evil\n")
	r.commit("worker.yaml", "a: 1\n")
	r.git("config", "filter.evil.clean", filepath.Join(r.dir, "program"))
	r.git("config", "core.fsmonitor", filepath.Join(r.dir, "program"))
	r.write("worker.yaml", "a: 2\n")
	if got, err := gather.Uncommitted(t.Context(), r.dir, []string{"worker.yaml"}); err != nil || got != "worker.yaml" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of the repository was executed")
	}
	r.git("status") // the trap works: what people do falls into it
	if _, err := os.Stat(canary); err != nil {
		t.Errorf("the program is never executed, so that this test shows nothing: %v", err)
	}
}
