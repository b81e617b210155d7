// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Uncommitted is the first of some files of a folder, by their paths below it, that Git could not give back as it is; empty if there is
// none. That nobody can know it is an error: there is no Git, no repository, or one that Git does not trust.
//
// Contents are compared as they are. Whatever else says that a file is unchanged, as git status does, asks the filters that the
// repository names, and those are programs.
func Uncommitted(ctx context.Context, dir string, files []string) (string, error) {
	dir, _, err := folderOf(dir)
	if err != nil {
		return "", err
	}
	in, err := open(ctx, dir)
	if err != nil {
		return "", err
	}
	there, err := existing(dir, files)
	if err != nil || len(there) == 0 {
		return "", err
	}
	committed, err := in.committed(ctx, there)
	if err != nil {
		return "", err
	}
	hashed, err := in.run(ctx, append([]string{"hash-object", "--no-filters", "--"}, there...)...)
	if err != nil {
		return "", err
	}
	for at, content := range strings.Fields(string(hashed)) {
		if committed[filepath.ToSlash(there[at])] != content {
			return there[at], nil
		}
	}
	return "", nil
}

// committed are the contents of files in the newest commit, by their paths; none, if there is no commit yet.
func (r *repository) committed(ctx context.Context, files []string) (map[string]string, error) {
	if _, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, ctx.Err()
	}
	listed, err := r.run(ctx, append([]string{"ls-tree", "-z", "HEAD", "--"}, files...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range bytes.SplitSeq(listed, []byte{0}) {
		about, path, _ := strings.Cut(string(line), "\t")
		if columns := strings.Fields(about); len(columns) == 3 { // mode, type, content
			found[path] = columns[2]
		}
	}
	return found, nil
}

// existing are the files that are there: one that is to be made is written over nothing.
func existing(dir string, files []string) ([]string, error) {
	var there []string
	for _, file := range files {
		_, err := os.Lstat(filepath.Join(dir, file))
		switch {
		case err == nil:
			there = append(there, file)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return there, nil
}
