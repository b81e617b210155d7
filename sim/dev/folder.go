// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minos.dev/minos/sim/file"
	"minos.dev/minos/sim/loopback"
)

// markerFile says of a folder that it is ours, and may be emptied.
const markerFile = "minos-dev"

// DefaultFolder is where an environment is kept that nobody gives a folder to.
func DefaultFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: say with --dir where to keep it", err)
	}
	return filepath.Join(cache, "minos", "dev"), nil
}

// Claim makes a folder ours, if it is not. One that holds something else is refused: nothing of anybody's is written over.
func Claim(folder string) error {
	ours, err := isOurs(folder)
	if ours || err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return file.Write(filepath.Join(folder, markerFile), nil)
}

// Empty removes what a folder keeps of an environment, unless one runs in it.
func Empty(folder string) error {
	ours, err := isOurs(folder)
	if !ours || err != nil {
		return err
	}
	network, err := loopback.Claim(folder) // whoever runs has it
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(folder), network.Close())
}

// isOurs says whether an environment is kept in a folder. One that does not exist or is empty is nobody's.
func isOurs(folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if entry.Name() == markerFile {
			return true, nil
		}
	}
	return false, fmt.Errorf("%s holds something else already: %s: give an empty folder, or one that does not exist", folder, entries[0].Name())
}
