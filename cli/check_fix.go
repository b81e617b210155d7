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
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/patch"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/gather"
)

// mostRounds is how often a folder is mended in one run. Two rounds are usual where one patch makes room for another, as a new name
// does that belongs elsewhere in an ordered list; a rule that its own patch does not satisfy must not keep the command running for ever.
const mostRounds = 5

// judgeMending mends what can be mended, and judges again until there is nothing more to mend. A nil report says that nothing is left to
// report.
func (c *checking) judgeMending(cmd *cobra.Command, options check.Options) (*check.Report, error) {
	var written []string
	for round := 0; ; round++ {
		all, report, err := c.judge(cmd, options)
		if err != nil {
			return nil, err
		}
		changes, err := planned(all, report)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 || round == mostRounds {
			sayMended(cmd, len(written), len(changes))
			return c.unlessDry(report), nil
		}
		for _, change := range changes {
			if _, err := io.WriteString(cmd.OutOrStdout(), change.Diff()); err != nil {
				return nil, err
			}
		}
		if c.dryRun {
			say(cmd, "%s would be mended", count(len(changes), "file"))
			return nil, nil
		}
		if written, err = c.mend(cmd.Context(), changes, written); err != nil {
			return nil, err
		}
	}
}

// unlessDry is the report, except in a dry run, which is about the changes alone.
func (c *checking) unlessDry(report *check.Report) *check.Report {
	if c.dryRun {
		return nil
	}
	return report
}

// sayMended says how many files were mended, and whether any is left.
func sayMended(cmd *cobra.Command, written, left int) {
	switch {
	case written == 0:
		say(cmd, "there is nothing that can be mended by machine")
	case left > 0:
		say(cmd, "mended %s, and there is more to mend: run the command again", count(written, "file"))
	default:
		say(cmd, "mended %s", count(written, "file"))
	}
}

// mend writes changes, and returns which files have been written by now.
func (c *checking) mend(ctx context.Context, changes []*patch.Change, written []string) ([]string, error) {
	if !c.force {
		// What this run wrote is not committed, and what was there before is.
		others := slices.DeleteFunc(slices.Clone(changes), func(change *patch.Change) bool { return slices.Contains(written, change.File) })
		if err := committed(ctx, c.dir, others); err != nil {
			return nil, Hint(err, "commit or stash first, or give --force; --dry-run shows the changes")
		}
	}
	for _, change := range changes {
		if err := c.write(change); err != nil {
			return nil, err
		}
		if !slices.Contains(written, change.File) {
			written = append(written, change.File)
		}
	}
	return written, nil
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
	files := make([]string, 0, len(changes))
	for _, change := range changes {
		files = append(files, filepath.FromSlash(change.File))
	}
	changed, err := gather.Uncommitted(ctx, dir, files)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("nobody could give back what is written over: %w", err)
	case changed != "":
		return fmt.Errorf("there are changes that are not committed, such as %s", changed)
	}
	return nil
}
