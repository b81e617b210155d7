// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/load"
	"minos.dev/minos/check"
)

// newCheck returns the command that judges a folder of declarations.
func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Say what is wrong in a folder of declarations",
		Long: `Reads every YAML file below DIR, or below the current folder, and says what is
wrong, with file and line: fields that do not exist, values that a management
cluster would refuse, names that lead nowhere, versions that do not fit, machine
configurations that Talos would refuse. It needs no secrets and no keys.

With --since, it also refuses changes that cannot be made to what exists: give
a folder with the state before, for example another worktree of your
repository. Nothing is written. Exits with 3 if anything is wrong.`,
		Example: "minos check\nminos check fleet -o json\nminos check fleet --since ../main/fleet",
		GroupID: GroupFolder,
	}
	format := OutputFlag(cmd)
	since := cmd.Flags().String("since", "", "folder with the state before, to check the changes too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		found, err := checkFolder(cmd.Context(), append(args, ".")[0])
		if err != nil {
			return err
		}
		if err := found.try(); err != nil {
			return err
		}
		if *since != "" {
			if err := found.checkSince(cmd, *since); err != nil {
				return err
			}
		}
		return found.print(cmd, *format)
	}
	return cmd
}

// checkFolder reads a folder and follows the references in it.
func checkFolder(ctx context.Context, dir string) (*folder, error) {
	found, err := readFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if len(found.documents) == 0 && len(found.problems) == 0 {
		return nil, Hint(fmt.Errorf("nothing in %q is of a kind of minos.dev", dir), "give the folder that holds your declarations")
	}
	references, err := check.References(found.documents)
	if err != nil {
		return nil, err
	}
	found.problems = append(found.problems, references...)
	return found, nil
}

// try has Talos judge the configuration of every machine, unless something is wrong already.
func (f *folder) try() error {
	if len(f.problems) > 0 {
		return nil
	}
	var err error
	f.problems, err = check.Trials(f.documents)
	return err
}

// checkSince holds the changes from an older state of the folder to the rules about changes.
func (f *folder) checkSince(cmd *cobra.Command, dir string) error {
	before, err := readFolder(cmd.Context(), dir)
	if err != nil {
		return err
	}
	if len(before.problems) > 0 {
		say(cmd, "%s in %s: what has them was not compared", count(len(before.problems), "problem"), dir)
	}
	old := map[string]*load.Document{}
	for _, document := range before.documents {
		old[identity(document)] = document
	}
	for _, document := range f.documents {
		if was, ok := old[identity(document)]; ok {
			f.problems = append(f.problems, load.Change(was, document)...)
		}
	}
	return nil
}

// identity tells one object from another.
func identity(document *load.Document) string {
	return document.Kind.Name + "/" + document.Object.GetNamespace() + "/" + document.Object.GetName()
}

// print shows the problems and says by the exit code whether there are any.
func (f *folder) print(cmd *cobra.Command, format Format) error {
	slices.SortStableFunc(f.problems, func(a, b load.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if err := printProblems(cmd.OutOrStdout(), format, f.problems); err != nil {
		return err
	}
	if len(f.problems) > 0 {
		say(cmd, "%s in %s", count(len(f.problems), "problem"), count(f.files, "file"))
		return Exit(ExitFindings, nil)
	}
	say(cmd, "nothing is wrong: %s in %s", count(len(f.documents), "object"), count(f.files, "file"))
	return nil
}

// printProblems prints problems: for people as lines that an editor can jump to.
func printProblems(w io.Writer, format Format, problems []load.Problem) error {
	if format != FormatTable {
		return Print(w, format, append([]load.Problem{}, problems...), nil)
	}
	for _, problem := range problems {
		if _, err := fmt.Fprintln(w, problem); err != nil {
			return err
		}
	}
	return nil
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
