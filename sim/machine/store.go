// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"os"
	"path/filepath"
	"sync"

	"minos.dev/minos/sim/file"
)

// A Disk keeps what a machine must not forget. Load of a disk that was never written returns empty content. Save is all or
// nothing: a machine that dies during it finds the old content or the new one.
type Disk interface {
	Load() (Content, error)
	Save(content Content) error
}

// NewMemory returns a disk that lives as long as the program.
func NewMemory(images ...Image) Disk {
	memory := &memoryDisk{}
	for _, image := range images {
		memory.content = memory.content.Install(image).Prove()
	}
	return memory
}

// memoryDisk is a disk without a file.
type memoryDisk struct {
	mutex   sync.Mutex
	content Content
}

// Load returns what was saved last.
func (d *memoryDisk) Load() (Content, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.content, nil
}

// Save keeps it.
func (d *memoryDisk) Save(content Content) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.content = content
	return nil
}

// NewFolder returns a disk that is a folder of the real one. Images are installed only if nothing is there.
func NewFolder(folder string, images ...Image) (Disk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	disk := folderDisk(filepath.Join(folder, "disk.json"))
	content, err := disk.Load()
	if err != nil || content.Slots != [2]*Image{} || len(images) == 0 {
		return disk, err
	}
	for _, image := range images {
		content = content.Install(image).Prove()
	}
	return disk, disk.Save(content)
}

// folderDisk is the name of its file.
type folderDisk string

// Load reads the file.
func (d folderDisk) Load() (Content, error) {
	var content Content
	_, err := file.ReadJSON(string(d), &content)
	return content, err
}

// Save writes it.
func (d folderDisk) Save(content Content) error { return file.WriteJSON(string(d), content) }
