// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/soak"
	"minos.dev/minos/sim/soak/story"
)

// soakFlags are the flags of soak.
type soakFlags struct {
	seed   *uint64
	long   *time.Duration
	rounds *int
	dir    *string
	brief  *bool
	story  *bool
	format *cli.Format
}

// newSoak returns the command that runs clusters under faults.
func newSoak() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Run clusters while everything goes wrong",
		Long: `Runs clusters on this computer while pools are made, scaled, rolled and removed,
and meanwhile parts are killed, ways are cut, places misbehave, and others write
into what is ours. All the time, and when all is as declared again, it is held
to what must never be otherwise: budgets, one gateway, one instance a machine,
secrets that stay and are written nowhere, nothing left over.

The story comes from --seed, and is printed as it happens; --story prints it and
does nothing. Exits with 3 at the first violation, with the evidence, the seed,
the story of the round, and where the logs are.

It needs minos-kube and minos-operator ('make build kube' builds them).`,
		Example: "minos sim soak --for 10m\nminos sim soak --seed 7 --rounds 3\nminos sim soak --seed 7 --rounds 3 --story",
		Args:    cobra.NoArgs,
	}
	f := soakFlags{
		seed:   cmd.Flags().Uint64("seed", 0, "decides the story; 0 draws one"),
		long:   cmd.Flags().Duration("for", 10*time.Minute, "how long new rounds are begun; 0 is without end"),
		rounds: cmd.Flags().Int("rounds", 0, "how many rounds there are at most; 0 is any number"),
		dir:    cmd.Flags().String("dir", "", "new `folder` that keeps it; without it one that is removed when nothing is wrong"),
		brief:  cmd.Flags().Bool("brief", false, "short rounds with one cluster"),
		story:  cmd.Flags().Bool("story", false, "print the story of --rounds rounds, and do nothing"),
		format: cli.OutputFlag(cmd),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	return cmd
}

// run does what the flags say.
func (f soakFlags) run(cmd *cobra.Command) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	if *f.story {
		return f.tell(cmd.OutOrStdout(), options)
	}
	folder, temporary, err := f.folder()
	if err != nil {
		return err
	}
	printer := &soakPrinter{out: cmd.ErrOrStderr(), screen: newScreen(cmd.ErrOrStderr())}
	options.Folder, options.Tell = folder, printer.line
	printer.line(soak.Line{Text: fmt.Sprintf("the seed is %d, and the logs are in %s", options.Seed, folder)})
	summary, err := soak.Run(cmd.Context(), options)
	if temporary && (err == nil && summary.Passed() || errors.Is(err, context.Canceled)) {
		err = errors.Join(err, os.RemoveAll(folder))
		summary.Logs = ""
	}
	if err != nil && summary.Seed == 0 {
		return err // it never began
	}
	return errors.Join(f.end(cmd.OutOrStdout(), summary), err)
}

// options are what the flags say, with a seed.
func (f soakFlags) options() (soak.Options, error) {
	if *f.rounds < 0 || *f.long < 0 {
		return soak.Options{}, fmt.Errorf("--rounds %d and --for %s: neither may be less than 0", *f.rounds, *f.long)
	}
	options := soak.Options{Seed: *f.seed, For: *f.long, Rounds: *f.rounds, Bounds: soak.Usual()}
	if *f.brief {
		options.Bounds = soak.Brief()
	}
	for options.Seed == 0 {
		options.Seed = uint64(rand.Uint32()) //nolint:gosec // a story, and no secret
	}
	return options, nil
}

// folder is where it is kept, and whether nobody asked for it. One that holds something would be resumed, and a story begins with
// nothing.
func (f soakFlags) folder() (folder string, temporary bool, err error) {
	if *f.dir == "" {
		folder, err = os.MkdirTemp("", "minos-soak-")
		return folder, true, err
	}
	if found, err := os.ReadDir(*f.dir); err == nil && len(found) > 0 {
		return "", false, cli.Hint(fmt.Errorf("--dir %s holds something already: %s", *f.dir, found[0].Name()), "a story begins with nothing: give a new folder")
	}
	return *f.dir, false, nil
}

// tell prints a story.
func (f soakFlags) tell(out io.Writer, options soak.Options) error {
	if options.Rounds == 0 {
		return errors.New("--story needs --rounds: a story has no end of its own")
	}
	lines := []string{fmt.Sprintf("seed %d", options.Seed)}
	world := story.World{}
	for number := range options.Rounds {
		round := story.Tell(options.Seed, number, world, options.Bounds)
		lines = append(lines, fmt.Sprintf("round %d", number))
		for _, deed := range round.Deeds {
			lines = append(lines, "  "+deed.String())
		}
		world = round.After
	}
	if *f.format != cli.FormatTable {
		return cli.Print(out, *f.format, lines, nil)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// end prints the summary, and says whether all held.
func (f soakFlags) end(out io.Writer, summary soak.Summary) error {
	err := cli.Print(out, *f.format, summary, func() cli.Table { return summaryTable(summary) })
	if err != nil || summary.Passed() {
		return err
	}
	if *f.format == cli.FormatTable {
		if err := printViolations(out, summary); err != nil {
			return err
		}
	}
	return cli.Exit(cli.ExitFindings, fmt.Errorf("what must never be was seen: %s", summary.Violations[0].Invariant))
}

// summaryTable is the summary for people.
func summaryTable(summary soak.Summary) cli.Table {
	table := cli.Table{Columns: []string{"soak", "figure"}}
	add := func(name string, value any) {
		table.Rows = append(table.Rows, []string{name, fmt.Sprint(value)})
	}
	add("seed", summary.Seed)
	add("rounds", summary.Rounds)
	add("seconds", summary.Took)
	for _, counted := range []map[string]int{summary.Acts, summary.Faults} {
		for _, kind := range slices.Sorted(maps.Keys(counted)) {
			add(kind, counted[kind])
		}
	}
	add("refused by the guard", summary.Refused)
	add("machines made", summary.Machines)
	add("snapshots", summary.Snapshots)
	add("longest convergence, seconds", summary.Longest)
	add("violations", len(summary.Violations))
	return table
}

// printViolations prints what must never be, with all that is known of it.
func printViolations(out io.Writer, summary soak.Summary) error {
	lines := []string{""}
	for _, violation := range summary.Violations {
		lines = append(lines, "violated: "+violation.Invariant, "evidence: "+violation.Evidence)
	}
	lines = append(lines, fmt.Sprintf("seed:     %d", summary.Seed), "logs:     "+summary.Logs, "story:")
	_, err := fmt.Fprintln(out, strings.Join(append(lines, summary.Story...), "\n"))
	return err
}

// A soakPrinter prints what happens: in a terminal with a last line that says what is waited for.
type soakPrinter struct {
	out io.Writer

	mutex  sync.Mutex
	screen *screen       // nil where lines are printed only
	last   time.Duration // when a line was printed last
}

// quiet is how long nothing is printed before somebody would wonder whether it still runs, and for what it waits.
const quiet = 30 * time.Second

// line prints a line.
func (p *soakPrinter) line(line soak.Line) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	text := fmt.Sprintf("%8.1fs  %s", line.At.Seconds(), line.Text)
	switch {
	case p.screen != nil:
		if p.screen.draw([]string{text}); !line.Passing {
			p.screen.leave()
		}
	case !line.Passing || line.At-p.last >= quiet:
		p.last = line.At
		_, _ = fmt.Fprintln(p.out, text) // nobody is left to complain to, and it goes on
	}
}
