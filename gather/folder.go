// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"minos.dev/minos/check/facts"
)

// Options are what a user decides about gathering. The zero value gathers everything.
type Options struct {
	// NoHistory leaves the history of the repository alone.
	NoHistory bool
	// Progress hears from time to time how far the history is: how many versions of files were looked at, and of how many that
	// are known so far. It is called from several places at once.
	Progress func(done, total int)
	// Now is the time; the clock's, if it is zero.
	Now time.Time
}

// Folder gathers what a folder holds. What cannot be known, such as the history of a folder without Git, is said in words within
// what is gathered; an error is only what makes all of it worthless.
func Folder(ctx context.Context, dir string, options Options) (facts.Source, error) {
	source := facts.Source{Now: options.Now}
	if source.Now.IsZero() {
		source.Now = time.Now()
	}
	dir, only, err := folderOf(dir)
	if err != nil {
		return source, err
	}
	repositories, listed, err := repositories(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return source, ctx.Err()
	case err != nil:
		source.HistoryUnknown = err.Error()
	default:
		source.Git = true
	}
	walked, err := walk(ctx, dir, only, listed)
	if err != nil {
		return source, err
	}
	source.Files, source.Leaks, source.Remarks = walked.files, walked.leaks(), slices.Concat(walked.remarks, listed.unread)
	if only == "" {
		foreign(dir, &source)
	}
	if source.Git && !options.NoHistory && only == "" {
		walked.progress = options.Progress
		err = past(ctx, repositories, walked, &source)
	} else if source.Git {
		source.HistoryUnknown = "nobody asked for the history"
	}
	return source, err
}

// folderOf is the folder that is asked for, and the one file in it if that is what is asked for.
func folderOf(dir string) (folder, only string, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("there is no folder or file %q", dir)
	}
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return dir, "", nil
	}
	return filepath.Dir(dir), filepath.Base(dir), nil
}

// repositories are that of a folder and those of its submodules, and what they say of its files.
func repositories(ctx context.Context, dir string) ([]*repository, *index, error) {
	own, err := open(ctx, dir)
	if err != nil {
		return nil, &index{}, err
	}
	listed, err := own.index(ctx)
	if err != nil {
		return nil, &index{}, err
	}
	all := []*repository{own}
	for _, folder := range listed.submodules {
		path := filepath.Join(dir, filepath.FromSlash(folder))
		if _, err := os.Lstat(filepath.Join(path, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue // it was never fetched: its files are not here
		}
		below, more, err := submodule(ctx, path)
		if err != nil {
			listed.unread = append(listed.unread, fmt.Sprintf("%s is a submodule of which nothing is known, and its secrets were not looked for: %v", folder, err))
			continue
		}
		below.prefix = folder + "/"
		listed.add(folder, more)
		all = append(all, below)
	}
	return all, listed, ctx.Err()
}

// submodule is a repository below another one, and what it says of its files.
func submodule(ctx context.Context, path string) (*repository, *index, error) {
	found, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	listed, err := found.index(ctx)
	return found, listed, err
}
