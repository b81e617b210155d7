// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// current is the link to the folder with the files of now.
	current = "..data"
	// newLink becomes it in one step.
	newLink = "..data_tmp"
)

// project puts files into a folder in the place of those that are there, as the kubelet does with a mounted Secret: a new
// folder, a link to it that takes the old link's place in one step, links of the files, and then the old folder goes. It
// may be cut off anywhere.
func project(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(folder, "..")
	if err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(fresh, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	link := filepath.Join(folder, newLink)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Base(fresh), link); err != nil {
		return err
	}
	if err := os.Rename(link, filepath.Join(folder, current)); err != nil {
		return err
	}
	return tidy(folder, filepath.Base(fresh), files)
}

// tidy makes the links that the container sees, and removes those that lead nowhere and every folder but the fresh one.
func tidy(folder, fresh string, files map[string][]byte) error {
	wanted := map[string]bool{current: true, fresh: true}
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		wanted[top] = true
		err := os.Symlink(filepath.Join(current, top), filepath.Join(folder, top))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !wanted[entry.Name()] {
			if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
