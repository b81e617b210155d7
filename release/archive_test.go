// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// packed is an archive of a file with a mode and an age of its own.
func packed(t *testing.T, mode os.FileMode, age time.Duration) []byte {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("content"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, commit.Add(age), commit.Add(age)); err != nil {
		t.Fatal(err)
	}
	made := archive{
		path: filepath.Join(folder, "archive"), folder: "minos-v1", made: commit,
		members: []member{{"LICENSE", path, 0o644}, {"minos", path, 0o755}},
	}
	if err := made.write(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(made.path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestArchive wants bytes that follow from contents alone, and members that anybody can unpack.
func TestArchive(t *testing.T) {
	first := packed(t, 0o600, 0)
	if second := packed(t, 0o644, time.Hour); !bytes.Equal(first, second) {
		t.Error("an archive tells of files more than their content")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if !unpacked.ModTime.IsZero() || unpacked.Name != "" {
		t.Errorf("%+v", unpacked.Header)
	}
	var found []string
	tape := tar.NewReader(unpacked)
	for {
		header, err := tape.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tape)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%s %o %d:%d%s%s %s %s", header.Name, header.Mode, header.Uid, header.Gid, header.Uname, header.Gname, header.ModTime.UTC().Format(time.RFC3339), text))
	}
	want := []string{"minos-v1/LICENSE 644 0:0 2026-01-02T03:04:05Z content", "minos-v1/minos 755 0:0 2026-01-02T03:04:05Z content"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
