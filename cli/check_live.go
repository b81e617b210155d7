// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"minos.dev/minos/check/facts"
)

// asks refuses flags about a running cluster where none is asked. What a variable set is passed over.
func (c *checking) asks(cmd *cobra.Command) error {
	if c.live {
		return nil
	}
	for _, flag := range append(slices.Clone(runningNames), "save") {
		if cmd.Flags().Changed(flag) && os.Getenv(variable(flag)) == "" {
			return about(cmd, "--%s belongs to --live", flag)
		}
	}
	return nil
}

// hear asks the running cluster, once: --fix judges twice.
func (c *checking) hear(cmd *cobra.Command) ([]*facts.File, error) {
	if !c.live || c.heard != nil {
		return c.heard, nil
	}
	var err error
	if c.heard, err = c.running.ask(cmd); err != nil || c.save == "" {
		return c.heard, err
	}
	return c.heard, saveLive(cmd, c.save, c.heard)
}

// saved are the names of files that hold what a cluster said.
var saved = []string{"nodes*.json", "talos-*.json"}

// saveLive writes what a cluster said to a folder of its own. What an earlier run left there is replaced; a folder that holds something
// else is left alone.
func saveLive(cmd *cobra.Command, dir string, files []*facts.File) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		ours := slices.ContainsFunc(saved, func(pattern string) bool { is, _ := path.Match(pattern, entry.Name()); return is })
		if !ours || !entry.Type().IsRegular() {
			return Hint(fmt.Errorf("--save: %s holds something else already: %s", dir, entry.Name()), "give an empty folder, or one that does not exist")
		}
	}
	for _, entry := range entries {
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if err := replaceFile(filepath.Join(dir, file.Base()), file.Text, modeSecret); err != nil {
			return err
		}
	}
	say(cmd, "wrote what the cluster said to %s, without secrets: 'minos check %s' judges it again", dir, dir)
	return nil
}
