// SPDX-License-Identifier: Apache-2.0

// Package command is `minos sim` and `minos dev`: the commands that rehearse, and have everything on this machine. They print, and
// never decide.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/scenario"
)

// New returns the commands.
func New() *cobra.Command {
	sim := &cobra.Command{
		Use:   "sim",
		Short: "Rehearse with simulated machines",
		Long: `Rehearses what is declared with simulated machines on this computer: they read
their configuration, ask for certificates and join a real API server as real
ones do, and they fail when a scenario says so.`,
		Example: "minos sim run fleet\nminos sim run rehearsal.yaml\nminos sim soak --for 10m",
		GroupID: cli.GroupDevelop,
	}
	sim.AddCommand(newRun(), newSoak())
	return sim
}

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Play a scenario, and print what happens",
		Long: `Plays a scenario: brings up an API server and a signer on this computer, makes
the machines of every pool in a simulated place, lets happen what the scenario
says, and prints it as it happens. Times are simulated.

SCENARIO is a file, or a folder of declarations: then every machine of it has to
become ready, and nothing goes wrong. The cluster's own secrets are not needed.
It needs minos-kube ('make kube' builds it). Exits with 3 if something that was
expected did not come true.

With --dir, everything is kept there: a rehearsal that was stopped or killed
goes on when it is run again.`,
		Example: "minos sim run fleet\nminos sim run rehearsal.yaml --dir rehearsal",
	}
	format := cli.OutputFlag(cmd)
	dir := cmd.Flags().String("dir", "", "folder that keeps the rehearsal, so that it can go on")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return run(cmd, args[0], *dir, *format)
	}
	return cmd
}

// run plays a scenario and prints it.
func run(cmd *cobra.Command, path, dir string, format cli.Format) (err error) {
	read, folder, err := open(path)
	if err != nil {
		return err
	}
	objects, err := cli.ReadObjects(cmd.Context(), folder)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "minos-sim-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	printer := newPrinter(cmd.OutOrStdout(), format)
	result, err := scenario.Play(cmd.Context(), scenario.Options{Scenario: read, Objects: objects, Folder: dir, Tell: printer.line})
	if errors.Is(err, context.Canceled) {
		return cli.Hint(errors.New("the rehearsal was stopped"), "with --dir it can go on another time")
	}
	if err != nil {
		return err
	}
	if err := printer.result(result); err != nil {
		return err
	}
	if !result.Passed {
		return cli.Exit(cli.ExitFindings, errors.New("not all that was expected came true"))
	}
	return nil
}

// open reads a scenario, and says where its declarations are. A folder is a scenario in which nothing goes wrong.
func open(path string) (read *scenario.Scenario, folder string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", cli.Hint(fmt.Errorf("there is no scenario %q", path), "give a file, or a folder of declarations")
	case err != nil:
		return nil, "", err
	case info.IsDir():
		read, err = scenario.Parse(nil)
		return read, path, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if read, err = scenario.Parse(text); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	if filepath.IsAbs(read.Folder) {
		return read, read.Folder, nil
	}
	return read, filepath.Join(filepath.Dir(path), read.Folder), nil
}

// A printer prints a timeline: as it happens for people, and as a whole for programs.
type printer struct {
	out    io.Writer
	format cli.Format
	lines  []event
}

// An event is a line of the timeline, for programs.
type event struct {
	At      string `json:"at"`
	Machine string `json:"machine,omitempty"`
	Step    string `json:"step,omitempty"`
	Message string `json:"message"`
}

func newPrinter(out io.Writer, format cli.Format) *printer {
	return &printer{out: out, format: format}
}

// line prints an event.
func (p *printer) line(line scenario.Line) {
	if p.format != cli.FormatTable {
		p.lines = append(p.lines, event{At: clock(line.At), Machine: line.Machine, Step: string(line.Step), Message: line.Message})
		return
	}
	// Nobody is left to complain to, and the rehearsal goes on.
	_, _ = fmt.Fprintf(p.out, "%9s  %-16s %-9s %s\n", clock(line.At), cmp.Or(line.Machine, "-"), cmp.Or(line.Step, "-"), line.Message)
}

// result prints how it ended.
func (p *printer) result(result scenario.Result) error {
	if p.format != cli.FormatTable {
		return cli.Print(p.out, p.format, map[string]any{"timeline": p.lines, "result": result}, nil)
	}
	machines := cli.Table{Columns: []string{"machine", "stage", "stands", "talos", "boots", "reason"}}
	for _, one := range result.Machines {
		machines.Rows = append(machines.Rows, []string{one.Name, one.Stage, string(one.Stands), one.Version, fmt.Sprint(one.Boots), one.Reason})
	}
	expected := cli.Table{Columns: []string{"expected", "true", "why not"}}
	for _, one := range result.Judgements {
		when := "no"
		if one.Met {
			when = "at " + clock(one.At)
		}
		expected.Rows = append(expected.Rows, []string{one.Expectation.String(), when, one.Why})
	}
	for _, table := range []cli.Table{machines, expected} {
		if _, err := fmt.Fprintln(p.out); err != nil {
			return err
		}
		if err := cli.Print(p.out, cli.FormatTable, nil, func() cli.Table { return table }); err != nil {
			return err
		}
	}
	return nil
}

// clock is a simulated time as minutes, seconds and tenths.
func clock(at time.Duration) string {
	at = at.Round(time.Second / 10) // or 59.96 seconds would be sixty
	return fmt.Sprintf("%d:%04.1f", int(at.Minutes()), (at % time.Minute).Seconds())
}
