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

	"minos.dev/minos/sim/file"
	"minos.dev/minos/sim/machine"
)

// books are the files of a cloud. Without a folder they keep nothing.
type books struct {
	folder string
	cut    func(step string) error
}

// written is how the name of a record's file ends.
const written = ".json"

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
		path := filepath.Join(b.records(), entry.Name())
		if strings.HasSuffix(path, file.Unfinished) {
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("the books: %w", err)
			}
			continue
		}
		var found record
		_, err := file.ReadJSON(path, &found)
		if _, is := errors.AsType[*fs.PathError](err); is {
			return nil, fmt.Errorf("the books: %w", err)
		}
		if err != nil || found.ID+written != entry.Name() || len(found.Changes) == 0 {
			return nil, fmt.Errorf("the books: %s is not the record of an instance: remove it, and the disk of that name", path)
		}
		records = append(records, found)
	}
	return records, nil
}

// write keeps a record. It holds user data, and is never half of anything.
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
	commit, err := file.Stage(filepath.Join(b.records(), r.ID+written), text)
	if err != nil {
		return err
	}
	if err := b.cut("rename the record"); err != nil {
		return err
	}
	return commit()
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
