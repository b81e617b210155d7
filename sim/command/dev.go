// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/program"
)

// devOptions are the flags of dev.
type devOptions struct {
	dir      *string
	fresh    *bool
	once     *bool
	scenario *string
	list     *bool
	timeout  *time.Duration
	speed    *float64
	format   *cli.Format
	before   *[]string
}

// NewDev returns the command that has everything on this machine.
func NewDev() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Have everything on this machine, with a tenant's cluster",
		Long: `Starts everything of Minos on this computer: a management cluster, Cluster API's
controllers, the operator with just its own rights, and places that make
simulated machines. Then it declares a tenant's cluster with a hosted control
plane and three pools, and prints each machine as it passes the steps of
joining. When all is Ready it names commands to try, with the credentials for
them, and stays until Ctrl-C, which leaves nothing running.

What --dir keeps is resumed by the next start. With --once it exits with 0 when
all is Ready, and with 3 when it is not within --timeout, with the step that was
not reached and its cause. With --scenario it plays a story of what can go
wrong, and exits with 3 when that does not end as it should.

It needs minos-kube and minos-operator beside it ('make build kube' builds
them), and Go for the definitions of others when a folder is new.`,
		Example: "minos dev\nminos dev --once --fresh\nminos dev --scenario signer-outage",
		GroupID: cli.GroupDevelop,
	}
	o := devOptions{
		dir:      cmd.Flags().String("dir", "", "`folder` that keeps it; without it minos/dev in your cache folder"),
		fresh:    cmd.Flags().Bool("fresh", false, "begin anew: remove what the folder keeps"),
		once:     cmd.Flags().Bool("once", false, "exit when all is Ready, or is not in time"),
		scenario: cmd.Flags().String("scenario", "", "play the story of this `name`, and exit"),
		list:     cmd.Flags().Bool("list-scenarios", false, "list the stories, and exit"),
		timeout:  cmd.Flags().Duration("timeout", 5*time.Minute, "how long to wait until all is Ready"),
		speed:    cmd.Flags().Float64("speed", 60, "how much faster than life simulated time passes, from 1 to 1000"),
		format:   cli.OutputFlag(cmd),
		before:   cmd.Flags().StringSlice("before", nil, "what was done before and how long it took, as build=90s: it is counted too"),
	}
	_ = cmd.Flags().MarkHidden("before") // it is for 'make demo'; it fails for a flag that does not exist
	_ = cmd.RegisterFlagCompletionFunc("scenario", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return dev.StoryNames(), cobra.ShellCompDirectiveNoFileComp
	}) // it fails for a flag that does not exist or was registered twice; neither can be here
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }
	return cmd
}

// run does what the flags say.
func (o devOptions) run(cmd *cobra.Command) error {
	if *o.list {
		return listStories(cmd, *o.format)
	}
	story, err := dev.FindStory(*o.scenario)
	if err != nil {
		return cli.Hint(err, "'minos dev --list-scenarios' lists them")
	}
	if *o.speed < 1 || *o.speed > 1000 {
		return fmt.Errorf("--speed: %v is not from 1 to 1000", *o.speed)
	}
	folder, err := o.folder()
	if err != nil {
		return err
	}
	report := newReport(cmd.OutOrStdout(), *o.format)
	session, err := dev.Open(cmd.Context(), dev.Options{Folder: folder, Speed: *o.speed, Tell: report.line, Show: report.show})
	if err != nil {
		report.end()
		return err
	}
	err = o.play(cmd, session, report, story)
	report.end()
	return errors.Join(err, o.close(cmd, session))
}

// folder is where it is kept, emptied if that is wanted.
func (o devOptions) folder() (string, error) {
	folder := *o.dir
	if folder == "" {
		var err error
		if folder, err = dev.DefaultFolder(); err != nil {
			return "", err
		}
	}
	folder, err := filepath.Abs(folder)
	if err == nil && *o.fresh {
		err = dev.Empty(folder)
	}
	if err == nil {
		err = dev.Claim(folder)
	}
	return folder, err
}

// play waits until all is Ready, and then for what else is wanted.
func (o devOptions) play(cmd *cobra.Command, session *dev.Session, report *report, story *dev.Story) error {
	err := session.AwaitReady(cmd.Context(), *o.timeout)
	report.end()
	if late, ok := errors.AsType[*dev.NotReady](err); ok {
		if err := report.findings(late.Findings); err != nil {
			return err
		}
		err = cli.Exit(cli.ExitFindings, fmt.Errorf("%w: the logs are in %s", late, session.Estate().Logs()))
		if *o.once || story != nil {
			return err
		}
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), late) // it goes on: it may become Ready, and somebody may want to know why it did not
		session.Follow(cmd.Context())
		return err
	}
	switch {
	case err != nil:
		return err
	case story != nil:
		return o.tell(cmd.Context(), session, report, story)
	}
	if err := o.sum(cmd.Context(), session, report); err != nil || *o.once {
		return err
	}
	session.Follow(cmd.Context())
	return nil // that somebody ends it is how it ends
}

// tell plays a story.
func (o devOptions) tell(ctx context.Context, session *dev.Session, report *report, story *dev.Story) error {
	err := story.Play(ctx, session)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return cli.Exit(cli.ExitFindings, fmt.Errorf("the story %s did not end as it should: %w", story.Name, err))
	}
	return report.words("\nThe story ended as it should: " + story.End)
}

// sum writes the credentials, and says what it took and what to try.
func (o devOptions) sum(ctx context.Context, session *dev.Session, report *report) error {
	access, err := session.WriteAccess(ctx)
	if err != nil {
		return err
	}
	phases, took, err := o.counted(session)
	if err != nil {
		return err
	}
	return report.sum(summary{
		Took: took, Phases: phases, Speed: *o.speed, Access: access, Suggestions: dev.Suggestions(access, programs()), Stays: !*o.once,
	})
}

// counted are all phases, with those before this program, and what they took together.
func (o devOptions) counted(session *dev.Session) ([]dev.Phase, time.Duration, error) {
	var phases []dev.Phase
	took := session.Since()
	for _, one := range *o.before {
		name, text, _ := strings.Cut(one, "=")
		before, err := time.ParseDuration(text)
		if err != nil {
			return nil, 0, fmt.Errorf("--before: %q is not of the form build=90s", one)
		}
		phases, took = append(phases, dev.Phase{Name: name, Took: before}), took+before
	}
	return append(phases, session.Phases()...), took, nil
}

// close ends everything, and says so, because it takes a moment.
func (o devOptions) close(cmd *cobra.Command, session *dev.Session) error {
	if !*o.once {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "everything ends; what was made is kept for the next start") // there is nowhere left to complain
	}
	return session.Close()
}

// programs are how commands to try are called: by the shortest name that works from here.
func programs() dev.Programs {
	found := dev.Programs{Minos: "minos", Kube: program.Kube}
	if own, err := os.Executable(); err == nil {
		found.Minos = short(own)
	}
	if kube, err := program.Find(program.Kube); err == nil {
		found.Kube = short(kube)
	}
	return found
}

// short is a file as seen from the current folder, if that is shorter.
func short(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if near, err := filepath.Rel(here, file); err == nil && !strings.HasPrefix(near, "..") {
		if !strings.Contains(near, string(filepath.Separator)) {
			return "." + string(filepath.Separator) + near
		}
		return near
	}
	return file
}

// listStories lists them.
func listStories(cmd *cobra.Command, format cli.Format) error {
	table := cli.Table{Columns: []string{"scenario", "what happens"}}
	var all []map[string]string
	for _, story := range dev.Stories() {
		table.Rows = append(table.Rows, []string{story.Name, story.About})
		all = append(all, map[string]string{"name": story.Name, "about": story.About, "end": story.End})
	}
	return cli.Print(cmd.OutOrStdout(), format, all, func() cli.Table { return table })
}
