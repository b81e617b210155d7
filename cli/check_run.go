// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// run gathers, judges and reports; with --fix it mends in between, and judges again.
func (c *checking) run(cmd *cobra.Command) error {
	rules, err := check.Select(c.only, c.skip)
	if err != nil {
		return Hint(err, "'minos check --list' lists the rules")
	}
	options := check.Options{Rules: rules}
	if options.Baseline, err = c.readBaseline(); err != nil {
		return err
	}
	report, err := c.reported(cmd, options)
	if err != nil || report == nil {
		return err
	}
	if c.writeBaseline != "" {
		return c.keepBaseline(cmd, report)
	}
	if err := c.print(cmd, report); err != nil {
		return err
	}
	if report.Reaches(c.failing.severity()) {
		return Exit(ExitFindings, nil)
	}
	return nil
}

// reported is what there is to report: nil if that is nothing.
func (c *checking) reported(cmd *cobra.Command, options check.Options) (*check.Report, error) {
	if c.fix {
		return c.judgeMending(cmd, options)
	}
	_, report, err := c.judge(cmd, options)
	return report, err
}

// judge judges the folder.
func (c *checking) judge(cmd *cobra.Command, options check.Options) (*facts.Facts, *check.Report, error) {
	all, err := c.gather(cmd, options.Rules)
	if err != nil {
		return nil, nil, err
	}
	return all, check.Judge(all, options), nil
}

// gather reads the folder, and the state before if that is asked for.
func (c *checking) gather(cmd *cobra.Command, rules []*rule.Rule) (*facts.Facts, error) {
	source, err := c.gatherFolder(cmd, rules)
	if err != nil {
		return nil, err
	}
	source.Environment = c.environment
	if source.Live, err = c.hear(cmd); err != nil {
		return nil, err
	}
	if c.since != "" {
		if source.Before, err = before(cmd, c.since); err != nil {
			return nil, err
		}
	}
	all, err := facts.Read(source)
	if err != nil {
		return nil, err
	}
	if !all.Git && empty(all) {
		return nil, Hint(fmt.Errorf("nothing in %q is anything that can be checked", c.dir), "give the folder that holds your declarations or machine configurations")
	}
	return all, nil
}

// empty says whether there is nothing that any rule could judge.
func empty(all *facts.Facts) bool {
	if len(all.Problems) > 0 {
		return false
	}
	for _, input := range facts.Inputs() {
		if input != facts.Catalogue && all.Has(input) {
			return false
		}
	}
	return len(all.Accesses)+len(all.Bundles)+len(all.Leaks) == 0
}

// before reads the state before.
func before(cmd *cobra.Command, dir string) ([]*facts.File, error) {
	found, err := readFolder(cmd.Context(), dir)
	if err != nil {
		return nil, err
	}
	if len(found.problems) > 0 {
		say(cmd, "%s in %s: what has them was not compared", count(len(found.problems), "problem"), dir)
	}
	var files []*facts.File
	for _, path := range found.paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, &facts.File{Path: path, Text: text})
	}
	return files, nil
}

// readBaseline reads the baseline that is asked for; nil if none is.
func (c *checking) readBaseline() (*check.Baseline, error) {
	if c.baseline == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Hint(fmt.Errorf("there is no baseline %q", c.baseline), "'minos check --write-baseline "+c.baseline+"' makes one")
	}
	if err != nil {
		return nil, err
	}
	found, err := check.ReadBaseline(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.baseline, err)
	}
	return found, nil
}

// keepBaseline writes all findings as a baseline.
func (c *checking) keepBaseline(cmd *cobra.Command, report *check.Report) error {
	made := check.NewBaseline(report)
	text, err := made.Text()
	if err != nil {
		return err
	}
	if err := replaceFile(c.writeBaseline, text, modePublic); err != nil {
		return err
	}
	say(cmd, "wrote %s to %s: with --baseline %s they do not count", count(len(made.Findings), "finding"), c.writeBaseline, c.writeBaseline)
	return nil
}
