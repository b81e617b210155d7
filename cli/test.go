// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/nearest"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/formation"
	"minos.dev/minos/gather"
)

// newTest returns the commands that put running clusters to the test.
func newTest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Put a running cluster to the test",
		Long: `These commands ask a running cluster about itself, and say whether it is what
it should be. They read only, and work on any cluster of Talos machines.`,
		Example: "minos test formation --talosconfig talosconfig",
		GroupID: GroupClusters,
	}
	cmd.AddCommand(newTestFormation())
	return cmd
}

const testFormationLong = `Says of a running cluster whether it formed as role-based images promise, by
four tests: 01-compute-only-cluster, 02-mixed-role-cluster,
03-tailscale-routing and 04-extension-isolation. It reads Nodes by the
kubeconfig and, where a talosconfig is given, asks every machine; it changes
nothing and reads no Secret. With each verdict comes what was seen, machine by
machine.

With --folder the declarations say what each machine is for. Without it that is
told from labels of Nodes, from what machines advertise and from the extensions
of their images, and the evidence says from which.

A test that cannot be decided is unknown, with the reason, and not passed.
Without a talosconfig nobody knows whether boots ended; and routes are in the
configurations of machines, which only an administrator (os:admin) may read.

Exits with 3 if a test fails, with 1 if one cannot be decided or nothing could
be asked, and with 0 if all that apply pass. 'minos check --formation' foretells
the same from declarations, before anything boots.`

// A formationTest is one run of the command.
type formationTest struct {
	running         runningOptions
	folder, cluster string
	only            []string
	format          *Format
}

// newTestFormation returns the command that says whether a cluster formed.
func newTestFormation() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "formation",
		Short: "Say whether a running cluster formed, by four tests",
		Long:  testFormationLong,
		Example: `minos test formation
minos test formation --kubeconfig kubeconfig --talosconfig talosconfig
minos test formation --folder fleet --only 03 -o json`,
	}
	f := &formationTest{running: runningFlags(cmd), format: OutputFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.folder, "folder", "", "`folder` whose declarations say what each machine is for")
	flags.StringVar(&f.cluster, "cluster", "", "`name` of the cluster, if the folder has several")
	flags.StringSliceVar(&f.only, "only", nil, "`tests` to run, by name or number")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	return cmd
}

// run asks, judges and reports.
func (f *formationTest) run(cmd *cobra.Command) error {
	only, err := f.tests()
	if err != nil {
		return err
	}
	if f.cluster != "" && f.folder == "" {
		return about(cmd, "--cluster is one of the declared: give --folder too")
	}
	all, err := f.gather(cmd)
	if err != nil {
		return err
	}
	results := formation.JudgeRunning(all, only...)
	if err := f.print(cmd, results); err != nil {
		return err
	}
	return verdict(results)
}

// tests are the names of the tests that are asked for.
func (f *formationTest) tests() ([]string, error) {
	var found []string
	for _, wanted := range f.only {
		at := slices.IndexFunc(formation.Names(), func(name string) bool { return name == wanted || strings.HasPrefix(name, wanted+"-") })
		if at < 0 {
			return nil, fmt.Errorf("--only: there is no test %q%s: one of %s", wanted, nearest.Hint(wanted, formation.Names()), strings.Join(formation.Names(), ", "))
		}
		found = append(found, formation.Names()[at])
	}
	return found, nil
}

// gather asks the cluster, and reads the folder if there is one.
func (f *formationTest) gather(cmd *cobra.Command) (*facts.Facts, error) {
	source := facts.Source{Now: time.Now()}
	var err error
	if f.folder != "" {
		if source, err = gather.Folder(cmd.Context(), f.folder, gather.Options{NoHistory: true}); err != nil {
			return nil, Hint(err, "give the folder that holds your declarations")
		}
	}
	if source.Live, err = f.running.ask(cmd, formation.Kinds()...); err != nil {
		return nil, err
	}
	all, err := facts.Read(source)
	if err != nil {
		return nil, err
	}
	if len(all.Problems) > 0 {
		problem := all.Problems[0]
		return nil, Hint(fmt.Errorf("%s:%d: %s", problem.File, problem.Line, problem.Text), "'minos check "+f.folder+"' says all that is wrong in the folder")
	}
	standing, err := all.AsRunning(f.cluster)
	if err != nil {
		return nil, err
	}
	if len(standing.Machines) == 0 {
		return nil, Hint(errors.New("no machine of the cluster was seen, so that there is nothing to test"), "look at what could not be read, above; a cluster without Nodes has not formed")
	}
	return standing, nil
}

// verdict is what the results lead to: a test that cannot be decided is not passed.
func verdict(results []formation.Result) error {
	unknown := 0
	for _, one := range results {
		switch one.Verdict {
		case formation.Fails:
			return Exit(ExitFindings, nil)
		case formation.Unknown:
			unknown++
		}
	}
	if unknown > 0 {
		return fmt.Errorf("%s could not be decided", count(unknown, "test"))
	}
	return nil
}

// mostSeen is how many machines people are shown of one test.
const mostSeen = 12

// print shows the results: to people with what was seen below each.
func (f *formationTest) print(cmd *cobra.Command, results []formation.Result) error {
	if *f.format != FormatTable {
		return Print(cmd.OutOrStdout(), *f.format, results, nil)
	}
	var text strings.Builder
	for _, one := range results {
		_, _ = fmt.Fprintf(&text, "%s: %s: %s: %s\n", one.Cluster, one.Test, one.Verdict, one.Text) // memory takes everything
		for _, line := range evidenceLines(one) {
			_, _ = fmt.Fprintf(&text, "    %s\n", line)
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), text.String())
	return err
}

// evidenceLines are what a test saw, and what its rules said.
func evidenceLines(one formation.Result) []string {
	var lines []string
	for _, seen := range one.Seen[:min(len(one.Seen), mostSeen)] {
		role := "no role that is known"
		if seen.Role != "" {
			role = fmt.Sprintf("%s (%s)", seen.Role, seen.By)
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", seen.Machine, role, seen.Text))
	}
	if more := len(one.Seen) - mostSeen; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s: -o json has all", count(more, "machine")))
	}
	for _, said := range one.Evidence {
		if said.Verdict == formation.Passes {
			lines = append(lines, fmt.Sprintf("%s holds: %s", said.Rule, said.Title))
		}
		for _, outcome := range said.Found {
			lines = append(lines, fmt.Sprintf("%s %s: %s", outcome.Rule, outcome.Verdict, outcome.Text))
		}
	}
	return lines
}
