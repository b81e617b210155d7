// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// logLimit is where a log file is put aside. With the one before it, a directory never holds more than twice this.
const logLimit = 16 << 20

// A logFile is the log of all components. It is bounded, as a plane may run for weeks.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

func openLog(dir string) (*logFile, error) {
	l := &logFile{path: filepath.Join(dir, "log.txt")}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends to the log, and first puts a full file aside.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size >= logLimit {
		if err := l.turn(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) turn() error {
	old := filepath.Join(filepath.Dir(l.path), "log.old.txt")
	// A file that somebody has removed meanwhile needs no putting aside.
	if err := os.Rename(l.path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = l.file.Close()
	return l.open()
}

// Close ends the log.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
