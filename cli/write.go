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
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	temporary, err := writeTemporary(path, data, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = os.Remove(temporary) // what went wrong first is what is reported
		return err
	}
	return nil
}

// errExists says that there is a file already where one was to be made.
var errExists = errors.New("exists already, and nothing is written over it")

// createFile writes a file that must not exist: what somebody has is never written over, also if it comes this very moment.
func createFile(path string, data []byte, mode fs.FileMode) error {
	temporary, err := writeTemporary(path, data, mode)
	if err != nil {
		return err
	}
	err = os.Link(temporary, path) // which, unlike a rename, refuses a name that is taken
	_ = os.Remove(temporary)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s %w", path, errExists)
	}
	return err
}

// writeTemporary writes a file beside the one that it is to become, and returns its name.
func writeTemporary(path string, data []byte, mode fs.FileMode) (string, error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err != nil {
		_ = os.Remove(temporary.Name())
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return temporary.Name(), nil
}
