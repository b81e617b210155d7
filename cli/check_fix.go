// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/patch"
	"minos.dev/minos/check/rule"
)

// mend applies the patches of findings that count, and shows what they change. It says whether anything was written.
func (c *checking) mend(cmd *cobra.Command, all *facts.Facts, report *check.Report) (bool, error) {
	changes, err := planned(all, report)
	if err != nil {
		return false, err
	}
	if len(changes) == 0 {
		say(cmd, "there is nothing that can be mended by machine")
		return false, nil
	}
	for _, change := range changes {
		if _, err := io.WriteString(cmd.OutOrStdout(), change.Diff()); err != nil {
			return false, err
		}
	}
	if c.dryRun {
		say(cmd, "%s would be mended", count(len(changes), "file"))
		return false, nil
	}
	if !c.force {
		if err := committed(cmd.Context(), c.dir, changes); err != nil {
			return false, Hint(err, "commit or stash first, or give --force; --dry-run shows the changes")
		}
	}
	for _, change := range changes {
		if err := c.write(change); err != nil {
			return false, err
		}
	}
	say(cmd, "mended %s", count(len(changes), "file"))
	return true, nil
}

// planned are the changes that patches make, by file.
func planned(all *facts.Facts, report *check.Report) ([]*patch.Change, error) {
	patches := map[string][]*rule.Patch{}
	for _, finding := range report.Findings {
		if finding.Patch != nil && finding.Counts() {
			patches[finding.Patch.File] = append(patches[finding.Patch.File], finding.Patch)
		}
	}
	texts := map[string]string{}
	for _, file := range all.Files {
		texts[file.Path] = string(file.Text)
	}
	var changes []*patch.Change
	for _, file := range slices.Sorted(maps.Keys(patches)) {
		change, err := patch.Apply(file, texts[file], patches[file])
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// write mends one file, unless it is not what it was when it was judged.
func (c *checking) write(change *patch.Change) error {
	path := c.dir
	if info, err := os.Stat(c.dir); err == nil && info.IsDir() {
		path = filepath.Join(c.dir, filepath.FromSlash(change.File))
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && change.Before == "" {
		return replaceFile(path, []byte(change.After), modePublic)
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, and is not written", change.File)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(text) != change.Before {
		return Hint(fmt.Errorf("%s changed while it was checked, and is not written", change.File), "run the command again")
	}
	return replaceFile(path, []byte(change.After), info.Mode().Perm())
}

// committed is an error if Git could not give back what is written over. What else is not committed is nobody's business here.
func committed(ctx context.Context, dir string, changes []*patch.Change) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	// Nothing that the repository names is executed: it may be somebody else's.
	arguments := []string{"-C", dir, "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "status", "--porcelain", "--untracked-files=all", "--ignored=matching", "--"}
	for _, change := range changes {
		arguments = append(arguments, filepath.FromSlash(change.File))
	}
	said, err := exec.CommandContext(ctx, "git", arguments...).Output()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New("the folder is not in a Git repository, which could give back what is written over")
	}
	if changed, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n"); changed != "" {
		return fmt.Errorf("there are changes that are not committed, such as %s", strings.TrimSpace(changed[min(2, len(changed)):]))
	}
	return nil
}
