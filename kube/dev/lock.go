// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lock takes the directory for this process. The kernel lets go of it when the process ends, however it ends.
func lock(dir string) (func(), error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the directory: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer func() { _ = f.Close() }()
		return nil, fmt.Errorf("%s is in use by another minos-kube (%s); stop it or choose another --dir", dir, holder(path))
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := note(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	// The file stays: removing it would let one process lock the old file and another the new one.
	return func() { _ = f.Close() }, nil
}

func note(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func holder(path string) string {
	content, err := os.ReadFile(path)
	pid := strings.TrimSpace(string(content))
	if err != nil || pid == "" {
		return "pid unknown"
	}
	return "pid " + pid
}
