// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
)

// The formats that only reports have.
const (
	formatSarif    Format = "sarif"
	formatJUnit    Format = "junit"
	formatMarkdown Format = "markdown"
)

// A level is a severity as a flag names it.
type level string

// The levels, the mildest first.
const (
	levelInfo    level = "info"
	levelWarning level = "warning"
	levelError   level = "error"
)

// A history is whether commits are looked through too.
type history string

// The ways to look through commits: auto is on where it is quick.
const (
	historyAuto history = "auto"
	historyOn   history = "on"
	historyOff  history = "off"
)

// A checking is one run of the command.
type checking struct {
	dir, since, baseline, writeBaseline, explain string
	only, skip                                   []string
	format                                       *Format
	shown, failing                               level
	environment                                  api.Environment
	history                                      history
	unknown, list, fix, dryRun, force, formation bool
	version                                      string

	live    bool
	save    string
	running runningOptions
	heard   []*facts.File // what the running cluster said
}

const checkLong = `Judges DIR, or the current folder, by every rule that Minos knows: declarations,
machine configurations that were rendered or found (plain Talos, talhelper,
topf), schematics, Kubernetes manifests and Helm values, CI workflows, the Git
repository with its history, and saved facts of a running cluster. It needs no
secrets, no keys and no network, and a folder that has never seen Minos can be
checked. What cannot be decided from what is there is said to be unknown, and
never taken for right.

With --live a running cluster is asked as well, in place of saved facts: its
Nodes by the kubeconfig, and its machines where there is a talosconfig. Nothing
is changed and no Secret is read. --save keeps what it said, without secrets.

Exits with 3 if a rule finds something at or above --fail-on, which is error
unless you say otherwise: a warning is a judgement that somebody may see
differently, and a gate that stops for those is soon taken down.

A finding can be borne with for a while, with a reason, where it stands:
  # minos:ignore NET-011 until 2027-01-31: the VPN is renumbered in January
--write-baseline keeps all findings of an old repository, and --baseline then
counts only new ones. --fix mends what can be mended by machine. With --since,
changes that cannot be made to what exists are findings too: give a folder with
the state before.`

// newCheck returns the command that judges a folder.
func newCheck(v Version) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Say what is wrong in a folder",
		Long:  checkLong,
		Example: `minos check
minos check fleet --only SEC,NET-0* -o sarif
minos check fleet --since ../main/fleet
minos check fleet --live --talosconfig talosconfig
minos check --explain EXT-003
minos check --list`,
		GroupID: GroupFolder,
	}
	c := &checking{format: OutputFlag(cmd, formatSarif, formatJUnit, formatMarkdown), shown: levelInfo, failing: levelError, history: historyAuto, version: v.Version}
	c.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.dir = append(args, ".")[0]
		if err := c.fits(cmd, len(args) > 0); err != nil {
			return err
		}
		if err := c.asks(cmd); err != nil {
			return err
		}
		switch {
		case c.list:
			return c.printList(cmd)
		case c.explain != "":
			return c.printExplained(cmd)
		case c.formation:
			return c.runFormation(cmd)
		}
		return c.run(cmd)
	}
	return cmd
}

// flags gives the command its flags.
func (c *checking) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.since, "since", "", "folder with the state before, to check the changes too")
	flags.StringSliceVar(&c.only, "only", nil, "rules to ask: IDs or groups, with wildcards")
	flags.StringSliceVar(&c.skip, "skip", nil, "rules not to ask: IDs or groups, with wildcards")
	flags.StringVar(&c.baseline, "baseline", "", "file with findings that do not count")
	flags.StringVar(&c.writeBaseline, "write-baseline", "", "file to keep all findings in")
	flags.BoolVar(&c.unknown, "unknown", false, "list what cannot be decided, and why")
	flags.BoolVar(&c.list, "list", false, "list the rules, and check nothing")
	flags.StringVar(&c.explain, "explain", "", "rule to explain, with its examples")
	flags.BoolVar(&c.formation, "formation", false, "say whether the clusters form, by four tests")
	flags.BoolVar(&c.live, "live", false, "ask a running cluster too")
	flags.StringVar(&c.save, "save", "", "with --live: `folder` to keep what the cluster said in")
	c.running = runningFlags(cmd)
	flags.BoolVar(&c.fix, "fix", false, "mend what can be mended by machine")
	flags.BoolVar(&c.dryRun, "dry-run", false, "with --fix: show the changes, and write nothing")
	flags.BoolVar(&c.force, "force", false, "with --fix: write even if Git could not give it back")
	levels := []level{levelInfo, levelWarning, levelError}
	word(cmd, "level", "mildest severity to show", &choice[level]{value: &c.shown, accepted: levels, kind: "severity"})
	word(cmd, "fail-on", "mildest severity that exits with 3", &choice[level]{value: &c.failing, accepted: levels, kind: "severity"})
	word(cmd, "history", "look through commits too", &choice[history]{value: &c.history, accepted: []history{historyAuto, historyOn, historyOff}, kind: "when"})
	word(cmd, "environment", "what clusters are for that do not say it", &choice[api.Environment]{value: &c.environment, kind: "environment", accepted: []api.Environment{
		api.EnvironmentProduction, api.EnvironmentStaging, api.EnvironmentDevelopment, api.EnvironmentHomelab, api.EnvironmentEdge,
	}})
}

// word gives a command a flag that accepts a few words.
func word[T ~string](cmd *cobra.Command, name, usage string, value *choice[T]) {
	cmd.Flags().Var(value, name, usage)
	// It fails for a flag that does not exist or was registered twice; neither can be here.
	_ = cmd.RegisterFlagCompletionFunc(name, value.complete)
}

// fits refuses flags that do not go together.
func (c *checking) fits(cmd *cobra.Command, dir bool) error {
	rules := c.list || c.explain != "" // it is about rules, and not about a folder
	switch {
	case c.list && (dir || c.explain != ""):
		return about(cmd, "--list is about the rules: it goes with --only, --skip and -o alone")
	case rules && dir:
		return about(cmd, "--explain is about a rule: it takes no folder")
	case c.formation && (rules || c.fix || len(c.only)+len(c.skip) > 0):
		return about(cmd, "--formation asks its own rules: it goes with -o and --environment alone")
	}
	return c.mends(cmd)
}

// mends refuses flags that do not go together with --fix, or without it.
func (c *checking) mends(cmd *cobra.Command) error {
	switch {
	case !c.fix && (c.dryRun || c.force):
		return about(cmd, "--dry-run and --force belong to --fix")
	case c.fix && *c.format != FormatTable:
		return about(cmd, "--fix shows changes: it has no -o")
	}
	return nil
}
