// SPDX-License-Identifier: Apache-2.0

// Package file writes private files so that a reader sees the old content or the new one, never a part of it.
package file

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces the file at path, readable by its owner only.
//
// The new content is first written beside it under a fixed name, so that what a killed process left behind is
// overwritten by the next one instead of piling up.
func Write(path string, content []byte) error {
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := write(beside, content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(beside, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func write(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// Private makes a directory that only its owner can enter, and closes one that was open to others.
func Private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}
