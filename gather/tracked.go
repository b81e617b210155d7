// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bytes"
	"context"
	"strings"
)

// An index is what Git says of the files of a folder. Paths are below the folder.
type index struct {
	tracked map[string]bool
	// ignored are files, and folders with a slash at their end.
	ignored map[string]bool
	// submodules are folders of other repositories that belong to this one.
	submodules []string
	// unread says of which of them nothing is known, and why.
	unread []string
}

// index asks Git which files it tracks and which it ignores.
func (r *repository) index(ctx context.Context) (*index, error) {
	found := &index{tracked: map[string]bool{}, ignored: map[string]bool{}}
	staged, err := r.run(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	for line := range bytes.SplitSeq(staged, []byte{0}) {
		about, path, ok := bytes.Cut(line, []byte("\t"))
		switch {
		case !ok:
		case bytes.HasPrefix(about, []byte("160000 ")):
			found.submodules = append(found.submodules, string(path))
		default:
			found.tracked[string(path)] = true
		}
	}
	ignored, err := r.run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	for path := range bytes.SplitSeq(ignored, []byte{0}) {
		if len(path) > 0 {
			found.ignored[string(path)] = true
		}
	}
	return found, nil
}

// ignores says whether Git ignores a file, by itself or with a folder above it.
func (i *index) ignores(path string) bool {
	if i.ignored[path] {
		return true
	}
	for at, char := range path {
		if char == '/' && i.ignored[path[:at+1]] {
			return true
		}
	}
	return false
}

// add takes in what another repository says of a folder below this one.
func (i *index) add(folder string, other *index) {
	for path := range other.tracked {
		i.tracked[folder+"/"+path] = true
	}
	for path := range other.ignored {
		i.ignored[folder+"/"+path] = true
	}
}

// submodule says whether a folder is one.
func (i *index) submodule(path string) bool {
	for _, one := range i.submodules {
		if one == path || strings.HasPrefix(path, one+"/") {
			return true
		}
	}
	return false
}
