// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/sim/file"
)

// kept is something to keep.
type kept struct {
	Name string `json:"name"`
}

// TestWrite wants what is written to come back, for its owner alone, with nothing beside it.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	for _, name := range []string{"first", "second"} {
		if err := file.WriteJSON(path, kept{name}); err != nil {
			t.Fatal(err)
		}
		var got kept
		if found, err := file.ReadJSON(path, &got); err != nil || !found || got.Name != name {
			t.Errorf("%+v, %v, %v", got, found, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("there are %v: %v", entries, err)
	}
}

// TestStage wants the old to stay until the new is in its place.
func TestStage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	if err := file.WriteJSON(path, kept{"old"}); err != nil {
		t.Fatal(err)
	}
	commit, err := file.Stage(path, []byte(`{"name": "new"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got kept
	if _, err := file.ReadJSON(path, &got); err != nil || got.Name != "old" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(path + file.Unfinished); err != nil {
		t.Error(err)
	}
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.ReadJSON(path, &got); err != nil || got.Name != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWriteFails wants a file that cannot be written to stay as it was.
func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	if err := file.WriteJSON(path, kept{"old"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+file.Unfinished, 0o700); err != nil { // in the way
		t.Fatal(err)
	}
	if err := file.WriteJSON(path, kept{"new"}); err == nil {
		t.Error("it was written")
	}
	if err := file.WriteJSON(path, func() {}); err == nil {
		t.Error("a function was written")
	}
	var got kept
	if _, err := file.ReadJSON(path, &got); err != nil || got.Name != "old" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReadJSON is what is not what was written.
func TestReadJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	var got kept
	if found, err := file.ReadJSON(path, &got); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	for name, text := range map[string]string{"nothing": "", "half": `{"name": "ha`, "more": `{"name": "a"} {}`, "another field": `{"nom": "a"}`, "noise": "\x00"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := file.ReadJSON(path, &got); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := file.ReadJSON(filepath.Dir(path), &got); err == nil {
		t.Error("a folder was read")
	}
}
