// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/secret"
)

// What is read of a folder that nobody has to trust.
const (
	largest   = 4 << 20 // of a file that is larger only the secrets are looked for
	mostFiles = 200_000
)

// passedOver are folders that tools fill with what others wrote.
var passedOver = []string{".git", "node_modules", ".terraform", ".venv", ".direnv", "__pycache__"}

// A walked folder is what its files hold.
type walked struct {
	root    *os.Root
	files   []*facts.File
	remarks []string
	found   map[string][]secret.Found // by path, of the files that Git tracks
	lock    sync.Mutex

	progress func(done, total int)
}

// leaks are the secrets that stand readable, in the order of files.
func (w *walked) leaks() []facts.Leak {
	var all []facts.Leak
	for _, file := range w.files {
		for _, found := range w.found[file.Path] {
			if !found.Marked {
				all = append(all, found.Leak)
			}
		}
	}
	return all
}

// walk reads the files of a folder, or one of them.
func walk(ctx context.Context, dir, only string, listed *index) (*walked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	w := &walked{root: root, found: map[string][]secret.Found{}}
	if only != "" {
		w.files = []*facts.File{{Path: only}}
	} else if err := w.list(ctx, listed); err != nil {
		return nil, err
	}
	for _, file := range w.files {
		file.Tracked = listed.tracked[file.Path]
		file.Ignored = !file.Tracked && listed.ignores(file.Path)
	}
	return w, w.read(ctx)
}

// list finds the files.
func (w *walked) list(ctx context.Context, listed *index) error {
	err := fs.WalkDir(w.root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && path != ".":
			w.remarks = append(w.remarks, fmt.Sprintf("%s cannot be read: %s", path, reason(err)))
			return fs.SkipDir
		case err != nil:
			return err
		case entry.IsDir():
			return w.enter(path, entry, listed)
		case !entry.Type().IsRegular():
			return nil // a link is not followed: what it leads to is in the folder anyway, or none of it
		case len(w.files) == mostFiles:
			w.remarks = append(w.remarks, fmt.Sprintf("the folder has more than %d files: the rest was not looked at", mostFiles))
			return fs.SkipAll
		}
		w.files = append(w.files, &facts.File{Path: path})
		return nil
	})
	return err
}

// enter says whether a folder is looked into: not into what tools fill, and not into other repositories unless they are submodules.
func (w *walked) enter(path string, entry fs.DirEntry, listed *index) error {
	if path == "." {
		return nil
	}
	if slices.Contains(passedOver, entry.Name()) {
		return fs.SkipDir
	}
	if _, err := w.root.Lstat(path + "/.git"); err == nil && !listed.submodule(path) {
		return fs.SkipDir
	}
	return nil
}

// reason is what a file system says, without the path of the machine.
func reason(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}

// read reads all files, on all processors.
func (w *walked) read(ctx context.Context) error {
	next := make(chan *facts.File)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for file := range next {
				w.one(file)
			}
		})
	}
	for _, file := range w.files {
		if ctx.Err() != nil {
			break
		}
		next <- file
	}
	close(next)
	workers.Wait()
	slices.Sort(w.remarks)
	return ctx.Err()
}

// one reads a file. One that cannot be read is said and not an error: the rest can be judged.
func (w *walked) one(file *facts.File) {
	found, err := w.content(file)
	w.lock.Lock()
	defer w.lock.Unlock()
	if err != nil {
		w.remarks = append(w.remarks, fmt.Sprintf("%s cannot be read: %s", file.Path, reason(err)))
	}
	if len(found) > 0 {
		w.found[file.Path] = found
	}
}

// isJudged says whether rules read a file by its content, also where Git ignores it. What a build leaves behind is not among those.
func isJudged(file *facts.File) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, file.Extension()) || strings.HasSuffix(file.Base(), "config")
}

// content reads a file and, if Git tracks it, finds its secrets.
func (w *walked) content(file *facts.File) ([]secret.Found, error) {
	if file.Ignored && !isJudged(file) {
		return nil, nil
	}
	opened, err := w.root.Open(file.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	if info.Size() > largest {
		if !file.Tracked {
			return nil, nil
		}
		return secret.Read(file.Path, opened)
	}
	text, err := io.ReadAll(io.LimitReader(opened, largest+1))
	if err != nil || secret.Binary(text) {
		return nil, err
	}
	file.Text = text
	if !file.Tracked {
		return nil, nil
	}
	return secret.Find(file.Path, text), nil
}
