// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli/scaffold"
)

// modeProgram is the mode of what can be run.
const modeProgram fs.FileMode = 0o755

// A target is the folder that is to be filled.
type target struct {
	dir  string // as it was given
	path string
	has  []string // what is in it
}

// newTarget looks at a folder, and refuses one that somebody uses.
func newTarget(dir string) (*target, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &target{dir: dir, path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil && !info.IsDir() {
		return nil, Hint(fmt.Errorf("%q is a file", dir), "give a folder that does not exist yet, or an empty one")
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("could not look into %q: %w", dir, err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != ".git" && !strings.HasPrefix(name, "README") {
			return nil, Hint(fmt.Errorf("%q is not empty: it has %q", dir, name), "give a folder that does not exist yet, or an empty one; .git and a README may be in it")
		}
		t.has = append(t.has, entry.Name())
	}
	return t, nil
}

// A madeFolder is all that will be written.
type madeFolder struct {
	target  *target
	answers scaffold.Answers
	files   []scaffold.File
	secrets *newSecretsOf // nil if the cluster has none here
}

// print shows what would be written, and nothing that is secret.
func (m *madeFolder) print(cmd *cobra.Command) error {
	for _, file := range slices.Concat(m.files, m.secrets.shown()) {
		if slices.Contains(m.target.has, file.Name) {
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "==> %s <==\n%s\n", file.Name, file.Text); err != nil {
			return err
		}
	}
	say(cmd, "nothing is written: this is a dry run")
	return nil
}

// write writes everything, or nothing: what was made before an error, or before Ctrl-C, is removed again.
func (m *madeFolder) write(cmd *cobra.Command, now time.Time) (err error) {
	undo := &undo{}
	defer func() {
		if err != nil {
			err = errors.Join(err, undo.all())
		}
	}()
	secret, err := m.secrets.files(undo, now)
	if err != nil {
		return err
	}
	written := 0
	for _, file := range slices.Concat(m.files, secret) {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if slices.Contains(m.target.has, file.Name) {
			say(cmd, "%s is there already, and stays as it is", filepath.Join(m.target.dir, file.Name))
			continue
		}
		if err := m.writeFile(undo, file); err != nil {
			return err
		}
		written++
	}
	m.secrets.say(cmd)
	m.sayNext(cmd, written)
	return nil
}

// writeFile writes one file.
func (m *madeFolder) writeFile(undo *undo, file scaffold.File) error {
	mode := modePublic
	switch {
	case file.Run:
		mode = modeProgram
	case file.Name == m.answers.BundleFile():
		mode = modeSecret
	}
	return undo.file(filepath.Join(m.target.path, filepath.FromSlash(file.Name)), file.Text, mode)
}

// sayNext says what was done, and what remains.
func (m *madeFolder) sayNext(cmd *cobra.Command, written int) {
	say(cmd, "wrote %s to %s, for the cluster %s. Next:", count(written, "file"), m.target.dir, m.answers.Name)
	lines := append(m.answers.Todo(), "minos check "+m.target.dir)
	if m.secrets != nil {
		lines = append(lines, fmt.Sprintf("minos render %s -o %s", m.target.dir, filepath.Join(m.target.dir, "rendered")))
	}
	for _, line := range lines {
		say(cmd, "- %s", line)
	}
}

// An undo knows what was made, in order.
type undo struct{ made []string }

// file writes a file that must not exist, and makes the folders above it.
func (u *undo) file(path string, text []byte, mode fs.FileMode) error {
	if err := u.folder(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := createFile(path, text, mode); err != nil {
		return err
	}
	u.made = append(u.made, path)
	return nil
}

// folder makes a folder and those above it that are missing.
func (u *undo) folder(path string, mode fs.FileMode) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if above := filepath.Dir(path); above != path {
		if err := u.folder(above, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		return err
	}
	u.made = append(u.made, path)
	return nil
}

// all removes what was made, the last first. A folder that somebody else has filled meanwhile stays.
func (u *undo) all() error {
	var problems []error
	for _, path := range slices.Backward(u.made) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
