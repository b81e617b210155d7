// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The modes of what is written. Secret is for everything that holds a key or a token, encrypted or not.
const (
	modeSecret fs.FileMode = 0o600
	modePublic fs.FileMode = 0o644
)

// replaceFile writes a file so that a reader, or a crash, finds either the old content or the new one and never a part.
func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name()) // what went wrong first is what is reported
		}
	}()
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(temporary.Name(), path)
}

// createFile writes a file that must not exist: what somebody has is never written over.
func createFile(path string, data []byte, mode fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already, and nothing is written over it", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replaceFile(path, data, mode)
}
