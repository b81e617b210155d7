// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minos.dev/minos/sim/machine"
)

// books are the files of a cloud. Without a folder they keep nothing.
type books struct {
	folder string
	cut    func(step string) error
}

// What files are called: a record, and one that is being written.
const (
	written = ".json"
	beside  = ".json.new"
)

// open makes the folders.
func (b books) open() error {
	if b.folder == "" {
		return nil
	}
	for _, folder := range []string{b.records(), b.disks()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("the books: %w", err)
		}
	}
	return nil
}

// records is the folder of the records, disks that of the disks.
func (b books) records() string { return filepath.Join(b.folder, "instances") }
func (b books) disks() string   { return filepath.Join(b.folder, "disks") }

// read returns all records. What was not written to its end is as if it had never been.
func (b books) read() ([]record, error) {
	if b.folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(b.records())
	if err != nil {
		return nil, fmt.Errorf("the books: %w", err)
	}
	var records []record
	for _, entry := range entries {
		file := filepath.Join(b.records(), entry.Name())
		if strings.HasSuffix(file, beside) {
			if err := os.Remove(file); err != nil {
				return nil, fmt.Errorf("the books: %w", err)
			}
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the books: %w", err)
		}
		var found record
		if err := json.Unmarshal(text, &found); err != nil || found.ID+written != entry.Name() || len(found.Changes) == 0 {
			return nil, fmt.Errorf("the books: %s is not the record of an instance: remove it, and the disk of that name", file)
		}
		records = append(records, found)
	}
	return records, nil
}

// write keeps a record. It writes a file beside and renames it: a record is never half of anything.
func (b books) write(r record) error {
	if err := b.cut("write the record"); err != nil {
		return err
	}
	if b.folder == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := filepath.Join(b.records(), r.ID)
	if err := os.WriteFile(file+beside, text, 0o600); err != nil { // it holds user data
		return err
	}
	if err := b.cut("rename the record"); err != nil {
		return err
	}
	return os.Rename(file+beside, file+written)
}

// remove forgets a record.
func (b books) remove(id string) error {
	if err := b.cut("remove the record"); err != nil || b.folder == "" {
		return err
	}
	err := os.Remove(filepath.Join(b.records(), id+written))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// disk returns the disk of an instance, with an image if it is new.
func (b books) disk(id string, image machine.Image) (machine.Disk, error) {
	if b.folder == "" {
		return machine.NewMemory(image), nil
	}
	return machine.NewFolder(filepath.Join(b.disks(), id), image)
}

// wipe removes the disk of an instance.
func (b books) wipe(id string) error {
	if b.folder == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(b.disks(), id))
}
