// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/load"
	"minos.dev/minos/check/declarations"
)

// largest is how large a file of declarations may be. A larger one is a mistake, or an attack on whoever reads it.
const largest = 16 << 20

// A folder is what a folder declares.
type folder struct {
	root      string   // the folder itself, or a file
	paths     []string // every file that may hold something of ours
	files     int
	documents []*load.Document
	problems  []load.Problem
}

// readFolder reads every YAML file below a folder, or one file. What cannot be read is an error, never nothing: a check
// that passes over a file it could not open would be worth nothing.
func readFolder(ctx context.Context, root string) (*folder, error) {
	reader, err := load.NewReader()
	if err != nil {
		return nil, err
	}
	found := &folder{root: root}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.IsDir() {
			return skipHidden(root, path, entry)
		}
		if !isDeclaration(root, path, entry) {
			return nil
		}
		return found.read(reader, root, path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Hint(fmt.Errorf("there is no folder or file %q", root), "give the folder that holds your declarations, or '.' for this one")
	}
	return found, err
}

// skipHidden passes over folders such as .git.
func skipHidden(root, path string, entry fs.DirEntry) error {
	if path != root && strings.HasPrefix(entry.Name(), ".") {
		return fs.SkipDir
	}
	return nil
}

// isDeclaration says whether a file may hold declarations: by its name, or because it was asked for by name.
func isDeclaration(root, path string, entry fs.DirEntry) bool {
	if path == root {
		return true
	}
	extension := filepath.Ext(path)
	return entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") && (extension == ".yaml" || extension == ".yml")
}

// read reads one file. Its name is kept as a path below the folder, so that it reads the same wherever the folder lies.
func (f *folder) read(reader *load.Reader, root, path string) error {
	f.paths = append(f.paths, path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > largest {
		return fmt.Errorf("%s has %d MiB, and a file of declarations may have %d", path, info.Size()>>20, largest>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if below, err := filepath.Rel(root, path); err == nil && below != "." {
		name = below
	}
	documents, problems := reader.Read(filepath.ToSlash(name), text)
	if len(documents) > 0 || len(problems) > 0 {
		f.files++
	}
	f.documents = append(f.documents, documents...)
	f.problems = append(f.problems, problems...)
	return nil
}

// checkFolder reads a folder and follows the references in it.
func checkFolder(ctx context.Context, dir string) (*folder, error) {
	found, err := readFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if len(found.documents) == 0 && len(found.problems) == 0 {
		return nil, Hint(fmt.Errorf("nothing in %q is of a kind of minos.dev", dir), "give the folder that holds your declarations")
	}
	references, err := declarations.References(found.documents)
	if err != nil {
		return nil, err
	}
	found.problems = append(found.problems, references...)
	return found, nil
}

// print shows the problems, as lines that an editor can jump to, and says by the exit code that there are some.
func (f *folder) print(cmd *cobra.Command) error {
	slices.SortStableFunc(f.problems, func(a, b load.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	for _, problem := range f.problems {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), problem); err != nil {
			return err
		}
	}
	say(cmd, "%s in %s", count(len(f.problems), "problem"), count(f.files, "file"))
	return Exit(ExitFindings, nil)
}

// ReadObjects returns what a folder declares, for commands of other rooms. A folder with problems is an error: what would
// come of it is not what was meant.
func ReadObjects(ctx context.Context, dir string) ([]load.Object, error) {
	found, err := checkFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if len(found.problems) > 0 {
		return nil, Hint(fmt.Errorf("there is %s in %q", count(len(found.problems), "problem"), dir), "'minos check "+dir+"' says what that is")
	}
	return found.objects(), nil
}
