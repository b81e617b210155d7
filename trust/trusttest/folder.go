// SPDX-License-Identifier: Apache-2.0

package trusttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Write writes files in place, as an administrator with an editor does.
func Write(tb testing.TB, folder string, files map[string]string) {
	tb.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// A Volume is a folder that changes as Kubernetes changes a projected Secret: all files at once, by a link to a new folder.
type Volume struct {
	Path  string
	count int
}

// NewVolume makes a volume with files in it.
func NewVolume(tb testing.TB, files map[string]string) *Volume {
	tb.Helper()
	volume := &Volume{Path: tb.TempDir()}
	volume.Project(tb, files)
	return volume
}

// Project puts these files in the place of those that are there, in the order in which the kubelet does it: new folder,
// new link, links of files, and then the old folder goes.
func (v *Volume) Project(tb testing.TB, files map[string]string) {
	tb.Helper()
	if err := v.Try(files); err != nil {
		tb.Fatal(err)
	}
}

// Try is Project for a test with many goroutines, where only one may fail the test.
func (v *Volume) Try(files map[string]string) error {
	v.count++
	fresh := fmt.Sprintf("..2026_11_15_12_00_00.%09d", v.count)
	old, err := os.Readlink(filepath.Join(v.Path, "..data"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Mkdir(filepath.Join(v.Path, fresh), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(v.Path, fresh, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.Symlink(fresh, filepath.Join(v.Path, "..data_tmp")); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(v.Path, "..data_tmp"), filepath.Join(v.Path, "..data")); err != nil {
		return err
	}
	return v.links(files, old)
}

// links makes the links that people see, removes those that lead nowhere, and the folder that was.
func (v *Volume) links(files map[string]string, old string) error {
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(v.Path, name)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	entries, err := os.ReadDir(v.Path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, ok := files[entry.Name()]; !ok && entry.Name()[0] != '.' {
			if err := os.Remove(filepath.Join(v.Path, entry.Name())); err != nil {
				return err
			}
		}
	}
	if old == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(v.Path, old))
}
