// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/talos/compare"
	"minos.dev/minos/talos/redact"
)

// newDiff returns the command that shows what a change of the folder does to machines.
func newDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [DIR]",
		Short: "Show what would change, machine by machine",
		Long: `Renders DIR, or the current folder, and shows what differs from what was
rendered before: by machine, document and value. Machines with the same changes
are shown together. Secrets are redacted, by where they stand and wherever
their values turn up.

Compares with the files in a folder that 'minos render' wrote (--with), or with
what another folder of declarations would render (--since), for example another
worktree of your repository. Nothing is written. Exits with 2 if anything
differs.`,
		Example: "minos diff fleet --with out\nminos diff fleet --since ../main/fleet\nminos diff fleet --with out -o json",
		GroupID: GroupFolder,
	}
	format := OutputFlag(cmd)
	with := cmd.Flags().String("with", "", "folder with what was rendered before")
	since := cmd.Flags().String("since", "", "folder of declarations with the state before")
	_ = cmd.MarkFlagDirname("with") // these fail for a flag that does not exist
	_ = cmd.MarkFlagDirname("since")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (*with == "") == (*since == "") {
			return Hint(about(cmd, "give one of --with and --since"), "--with is a folder that 'minos render' wrote, --since one of declarations")
		}
		rendered, err := renderFolder(cmd, append(args, ".")[0])
		if err != nil {
			return err
		}
		now, err := rendered.files()
		if err != nil {
			return err
		}
		before, err := filesBefore(cmd, *with, *since)
		if err != nil {
			return err
		}
		changed, err := machineChanges(before, now, rendered.redactor())
		if err != nil {
			return err
		}
		return printChanges(cmd, *format, changed, len(now))
	}
	return cmd
}

// filesBefore are the configurations to compare with.
func filesBefore(cmd *cobra.Command, with, since string) (map[string][]byte, error) {
	if since != "" {
		rendered, err := renderFolder(cmd, since)
		if err != nil {
			return nil, err
		}
		return rendered.files()
	}
	from, err := openOutput(with)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range from.before {
		if filepath.Ext(name) != ".yaml" {
			continue // a talosconfig says nothing of machines
		}
		text, err := os.ReadFile(filepath.Join(with, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by hand: the machine shows as new
		}
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	if len(files) == 0 {
		return nil, Hint(fmt.Errorf("nothing was rendered to %s", with), "render to it first: minos render -o "+with)
	}
	return files, nil
}

// machineChange is what differs on one machine, or on several alike.
type machineChange struct {
	Machines []string         `json:"machines"`
	State    string           `json:"state"` // added, removed or changed
	Changes  []compare.Change `json:"changes,omitempty"`
}

// machineChanges compares machine by machine, and puts those with the same changes together.
func machineChanges(before, now map[string][]byte, secrets *redact.Redactor) ([]*machineChange, error) {
	var all []*machineChange
	alike := map[string]*machineChange{}
	names := slices.Sorted(maps.Keys(now))
	for name := range before {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		change, err := changeOf(before, now, name, secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if change == nil {
			continue
		}
		id := change.State + "\n" + strings.Join(change.lines(), "\n")
		if first, ok := alike[id]; ok {
			first.Machines = append(first.Machines, change.Machines...)
			continue
		}
		alike[id] = change
		all = append(all, change)
	}
	for _, change := range all {
		slices.Sort(change.Machines)
	}
	return all, nil
}

// changeOf is what differs on one machine; nil if nothing does.
func changeOf(before, now map[string][]byte, name string, secrets *redact.Redactor) (*machineChange, error) {
	old, was := before[name]
	new, is := now[name]
	machine := filepath.ToSlash(strings.TrimSuffix(name, ".yaml"))
	switch {
	case !was:
		return &machineChange{Machines: []string{machine}, State: "added"}, nil
	case !is:
		return &machineChange{Machines: []string{machine}, State: "removed"}, nil
	}
	changes, err := compare.Configs(old, new, secrets)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return &machineChange{Machines: []string{machine}, State: "changed", Changes: changes}, nil
}

// printChanges shows the changes and says by the exit code whether there are any.
func printChanges(cmd *cobra.Command, format Format, changed []*machineChange, machines int) error {
	if format != FormatTable {
		if err := Print(cmd.OutOrStdout(), format, append([]*machineChange{}, changed...), nil); err != nil {
			return err
		}
	} else if err := writeChanges(cmd.OutOrStdout(), changed); err != nil {
		return err
	}
	if len(changed) == 0 {
		say(cmd, "nothing would change on %s", count(machines, "machine"))
		return nil
	}
	differ := 0
	for _, change := range changed {
		differ += len(change.Machines)
	}
	verb := map[bool]string{true: "differs", false: "differ"}[differ == 1]
	say(cmd, "%d of %s %s", differ, count(machines, "machine"), verb)
	return Exit(ExitChanges, nil)
}

// writeChanges writes changes for people.
func writeChanges(w io.Writer, changed []*machineChange) error {
	for _, change := range changed {
		text := change.State + ": " + strings.Join(change.Machines, ", ") + "\n"
		for _, line := range change.lines() {
			text += "  " + line + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
