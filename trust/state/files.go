// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile is the most bytes of a file: a bundle of authorities is the largest, and this is hundreds of them.
const maxFile = 1 << 20

// A snapshot is what can be seen of files without reading them. What is not there is there as nil.
type snapshot map[string]fs.FileInfo

// look takes a snapshot of files, and of the files in folders.
func look(ctx context.Context, paths []string) snapshot {
	seen := snapshot{}
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			seen[path] = nil
			continue
		}
		seen[path] = info
		if !info.IsDir() {
			continue
		}
		for _, entry := range visible(path) {
			if seen[entry], err = os.Stat(entry); err != nil {
				seen[entry] = nil
			}
		}
	}
	return seen
}

// same says whether two snapshots show the same files, unchanged.
func (s snapshot) same(other snapshot) bool {
	if s == nil || other == nil || len(s) != len(other) {
		return false
	}
	for path, info := range s {
		if now, ok := other[path]; !ok || !unchanged(info, now) {
			return false
		}
	}
	return true
}

// unchanged compares a file at two times. That it is the same file counts too, not only its time and size: a link that
// was turned leads to another one.
func unchanged(was, is fs.FileInfo) bool {
	if was == nil || is == nil {
		return was == nil && is == nil
	}
	return os.SameFile(was, is) && was.Size() == is.Size() && was.ModTime().Equal(is.ModTime()) && was.Mode() == is.Mode()
}

// visible are the entries of a folder that are meant: Kubernetes keeps its own behind two dots.
func visible(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			found = append(found, filepath.Join(folder, entry.Name()))
		}
	}
	return found
}

// errMoving is a folder that changes faster than it can be read.
var errMoving = errors.New("the files change while they are read: it is tried again")

// steady reads files until nothing changed meanwhile: of a certificate and its key, one must not be old and one new.
func steady(ctx context.Context, paths []string, read func() error) (snapshot, error) {
	const tries = 5
	before := look(ctx, paths)
	for range tries {
		err := read()
		after := look(ctx, paths)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if before.same(after) {
			return after, err
		}
		before = after
	}
	return nil, errMoving
}

// A file is what was read of one.
type file struct {
	path string
	text []byte
}

// readFile reads one file. It names the field that the path came from, since that is what can be set right.
func readFile(ctx context.Context, field, path string, most int64) (file, error) {
	if ctx.Err() != nil {
		return file{}, ctx.Err()
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{}, fmt.Errorf("%s: %s does not exist: put it there, or set --%s", field, path, field)
	case err != nil:
		return file{}, fmt.Errorf("%s: %w", field, err)
	case !info.Mode().IsRegular(): // to open a pipe could take for ever
		return file{}, fmt.Errorf("%s: %s is not a file", field, path)
	case info.Size() > most:
		return file{}, fmt.Errorf("%s: %s has %d bytes, more than %d", field, path, info.Size(), most)
	}
	opened, err := os.Open(path)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", field, err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(opened, most))
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", field, err)
	}
	return file{path, text}, nil
}

// readFolder reads every visible file of a folder.
func readFolder(ctx context.Context, field, folder string, most int64) ([]file, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %s does not exist: mount it there, or set --%s", field, folder, field)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", field, err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: %s is not a folder", field, folder)
	}
	if _, err := os.ReadDir(folder); err != nil { // one that cannot be read is not an empty one
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	var found []file
	for _, path := range visible(folder) {
		one, err := readFile(ctx, field, path, most)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}
