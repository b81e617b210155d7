// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli/scaffold"
	"minos.dev/minos/talos/pki"
)

// An initShell is what the command has from the machine that it runs on: its clock, its keyboard, and new secrets.
type initShell struct {
	now      func() time.Time
	terminal func(io.Reader) bool // whether somebody can be asked
	bundle   func(api.TalosVersion, time.Time) (*pki.Secrets, error)
}

// newInit returns the command that makes a folder for a new cluster.
func newInit(v Version) *cobra.Command {
	return newInitIn(initShell{now: time.Now, terminal: isTerminal, bundle: newBundle}, v)
}

// isTerminal says whether a person types what is read.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// newInitIn is newInit in a given shell.
func newInitIn(shell initShell, v Version) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make a folder for a new cluster",
		Long: `Settles the ten decisions that every cluster on Talos needs, and writes them as
a folder that works: the cluster, its machines and their roles, its secrets,
encrypted, checks for every commit and pull request, and a README that says what
comes next. Every choice is explained where it stands.

A profile answers everything: homelab (a few machines at home), production (a
rack that others depend on), edge (one machine far away) or hosted (virtual
machines of a management cluster). Every flag changes one answer. In a terminal,
what no flag answers is asked; with --yes, or without a terminal, the profile
decides.

Secrets are encrypted for --age, or for the age keys that SOPS would find, or
for a new one. The folder may be new, empty, or hold no more than .git and a
README. All is made and checked before the first file is written.`,
		Example: `minos init fleet
minos init fleet --profile homelab --control-plane n1=192.168.1.11
minos init fleet --profile production --cni calico --dry-run`,
		GroupID: GroupFolder,
	}
	questionFlags(cmd)
	yes := cmd.Flags().Bool("yes", false, "ask nothing: the profile answers what flags do not")
	dryRun := cmd.Flags().Bool("dry-run", false, "print the files, and write nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target, err := newTarget(args[0])
		if err != nil {
			return err
		}
		made, err := shell.start(cmd, target, v, *yes)
		if err != nil {
			return err
		}
		if *dryRun {
			return made.print(cmd)
		}
		return made.write(cmd, shell.now())
	}
	return cmd
}

// questionFlags gives a command a flag for every question.
func questionFlags(cmd *cobra.Command) {
	for _, q := range scaffold.Questions() {
		switch {
		case q.Switch:
			cmd.Flags().Bool(q.Name, false, q.Usage)
		case q.Many:
			cmd.Flags().StringSlice(q.Name, nil, q.Usage)
		case q.Type != "":
			cmd.Flags().Var(&choice[string]{value: new(string), accepted: q.Options, kind: q.Type}, q.Name, q.Usage)
		default:
			cmd.Flags().String(q.Name, "", q.Usage)
		}
		if len(q.Options) > 0 && !q.Switch {
			// As in OutputFlag: it cannot fail here.
			_ = cmd.RegisterFlagCompletionFunc(q.Name, cobra.FixedCompletions(q.Options, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// given are the answers that flags, or their variables, gave.
func given(flags *pflag.FlagSet) map[string]string {
	answers := map[string]string{}
	for _, q := range scaffold.Questions() {
		flag := flags.Lookup(q.Name)
		if !flag.Changed {
			continue
		}
		answers[q.Name] = flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			answers[q.Name] = strings.Join(list.GetSlice(), ",")
		}
	}
	return answers
}

// facts are what nobody has to be asked for.
func (s initShell) facts(target *target, v Version) scaffold.Facts {
	facts := scaffold.Facts{
		Folder: filepath.Base(target.path),
		Owner:  os.Getenv("USER"),
		Date:   s.now().Format(time.DateOnly),
		Minos:  "latest",
	}
	if current, err := user.Current(); err == nil && facts.Owner == "" {
		facts.Owner = current.Username
	}
	if strings.HasPrefix(v.Version, "v") {
		facts.Minos = v.Version
	}
	return facts
}

// answers are those of the flags, of the person at the keyboard, and of the profile.
func (s initShell) answers(cmd *cobra.Command, facts scaffold.Facts, yes bool) (scaffold.Answers, error) {
	answered := given(cmd.Flags())
	if !yes && s.terminal(cmd.InOrStdin()) {
		return scaffold.Fill(facts, answered, newTalk(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr()))
	}
	if _, ok := answered["profile"]; !ok {
		return scaffold.Answers{}, Hint(about(cmd, "--profile is missing, and there is nobody to ask"),
			fmt.Sprintf("give --profile %s", orList(scaffold.Profiles())))
	}
	return scaffold.Fill(facts, answered, scaffold.Presets)
}

// start makes everything that is written later, except for the secrets: they take a while, and a dry run does not need them.
func (s initShell) start(cmd *cobra.Command, target *target, v Version, yes bool) (*madeFolder, error) {
	answers, err := s.answers(cmd, s.facts(target, v), yes)
	if err != nil {
		return nil, err
	}
	files, err := scaffold.Files(answers)
	if err != nil {
		return nil, err
	}
	secrets, err := s.secrets(&answers)
	return &madeFolder{target: target, answers: answers, files: files, secrets: secrets}, err
}
