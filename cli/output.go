// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// manifestName is the file in which a folder of rendered files remembers what was written to it: only that is ever
// removed.
const manifestName = ".minos.json"

// An output is a folder whose files a command owns.
type output struct {
	root   string
	before []string
}

// An effect is what writing does to one file.
type effect struct {
	verb string // write or remove
	path string
}

// openOutput reads what was written to a folder before. It makes nothing.
func openOutput(root string) (*output, error) {
	path := filepath.Join(root, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &output{root: root}, refuseForeign(root)
	}
	if err != nil {
		return nil, err
	}
	var known struct {
		Files []string `json:"files"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, Hint(fmt.Errorf("%s is broken: %w", path, err), "remove the folder and render again")
	}
	for _, name := range known.Files {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s names %q, which is not in the folder", path, name)
		}
	}
	return &output{root: root, before: known.Files}, nil
}

// refuseForeign refuses a folder that holds something else.
func refuseForeign(root string) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return Hint(fmt.Errorf("%s holds something else already: %s", root, entries[0].Name()), "give an empty folder, or one that does not exist")
}

// effects says what writing the files would do. What is the same is left alone.
func (o *output) effects(files map[string][]byte) ([]effect, error) {
	var all []effect
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, err := os.ReadFile(filepath.Join(o.root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(old, files[name]) {
			all = append(all, effect{"write", name})
		}
	}
	for _, name := range o.before {
		if _, kept := files[name]; !kept {
			all = append(all, effect{"remove", name})
		}
	}
	return all, nil
}

// apply does it. Every file is replaced as a whole, and the list of files is written before the first and after the last
// of them, so that a command that was killed knows all of its files when it runs again.
func (o *output) apply(ctx context.Context, effects []effect, files map[string][]byte) error {
	if len(effects) == 0 {
		return nil
	}
	if err := os.MkdirAll(o.root, 0o700); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(o.root, ".gitignore"), []byte("# keys and tokens in clear\n*\n"), modePublic); err != nil {
		return err
	}
	now := slices.Sorted(maps.Keys(files))
	if err := o.remember(append(slices.Clone(now), o.before...)); err != nil {
		return err
	}
	made := ""
	for _, effect := range effects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if dir := filepath.Join(o.root, filepath.Dir(effect.path)); dir != made {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			made = dir
		}
		if err := o.do(effect, files[effect.path]); err != nil {
			return err
		}
	}
	return o.remember(now)
}

func (o *output) do(effect effect, text []byte) error {
	path := filepath.Join(o.root, effect.path)
	if effect.verb == "remove" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	// Not forced to the disk one by one: what a power cut takes is rendered again.
	temporary := path + ".new"
	if err := os.WriteFile(temporary, text, modeSecret); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// remember writes the list of files.
func (o *output) remember(names []string) error {
	slices.Sort(names)
	text, err := json.MarshalIndent(map[string][]string{"files": slices.Compact(names)}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(o.root, manifestName), append(text, '\n'), modePublic)
}
