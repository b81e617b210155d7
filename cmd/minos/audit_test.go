// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minos.dev/minos/cli"
)

// The audit looks at every command of the real tree, so that the next one is checked without anyone remembering.
func TestEveryCommand(t *testing.T) {
	for _, problem := range audit(root) {
		t.Error(problem)
	}
}

// audit returns what is wrong with a tree, a sentence each. It takes a constructor because running a command, or just
// parsing for it, leaves traces in the tree.
func audit(newRoot func() *cobra.Command) []string {
	var problems []string
	walk(newRoot(), func(cmd *cobra.Command) {
		for _, problem := range slices.Concat(shape(cmd), words(cmd)) {
			problems = append(problems, cmd.CommandPath()+": "+problem)
		}
	})
	problems = append(problems, flags(newRoot())...)
	if len(problems) > 0 {
		return problems // cobra panics on what was found so far
	}
	walk(newRoot(), func(cmd *cobra.Command) {
		for _, problem := range slices.Concat(page(cmd), examples(cmd, newRoot)) {
			problems = append(problems, cmd.CommandPath()+": "+problem)
		}
	})
	return problems
}

func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

// argument is one word of a usage line, as the frame counts them.
var argument = regexp.MustCompile(`^(\[[A-Za-z|-]+(\.\.\.)?\]|[A-Za-z|-]+(\.\.\.)?)$`)

// shape is what the frame relies on.
func shape(cmd *cobra.Command) (problems []string) {
	add := func(wrong bool, problem string) {
		if wrong {
			problems = append(problems, problem)
		}
	}
	add(cmd.HasSubCommands() && cmd.Runnable(), "has commands and runs too: the frame makes it print its help")
	add(!cmd.HasSubCommands() && cmd.RunE == nil, "has no RunE: its errors would be lost")
	for _, word := range strings.Fields(cmd.Use)[1:] {
		add(!argument.MatchString(word), fmt.Sprintf("%q is no argument: write NAME, [NAME], NAME... or [NAME...]", word))
	}
	if cmd.HasParent() {
		top := !cmd.Parent().HasParent()
		add(top && !cmd.Parent().ContainsGroup(cmd.GroupID), "has no group")
		add(!top && cmd.GroupID != "", "has a group, which only commands of the root have")
	}
	return problems
}

// words is what a person reads first.
func words(cmd *cobra.Command) (problems []string) {
	add := func(wrong bool, problem string) {
		if wrong {
			problems = append(problems, problem)
		}
	}
	add(cmd.Short == "", "has no Short")
	add(strings.HasSuffix(cmd.Short, ".") || strings.Contains(cmd.Short, "\n"), "Short is a line without a full stop")
	add(cmd.Short != "" && strings.ToUpper(cmd.Short[:1]) != cmd.Short[:1], "Short starts with a capital")
	add(len(exampleLines(cmd)) == 0, "has no Example with a line that starts with 'minos '")
	return problems
}

// flags looks at all commands together: a flag's name is a variable, and one variable cannot mean two things.
func flags(tree *cobra.Command) (problems []string) {
	kinds := map[string]string{} // what a variable is
	// What a letter stands for. Where a command writes a folder and prints no data, -o is that folder.
	shorthands := map[string]string{}
	walk(tree, func(cmd *cobra.Command) {
		look := func(f *pflag.Flag) {
			say := func(format string, args ...any) {
				problems = append(problems, fmt.Sprintf("%s --%s: ", cmd.CommandPath(), f.Name)+fmt.Sprintf(format, args...))
			}
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				say("usage is words without a full stop")
			}
			variable := "MINOS_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(f.Name))
			kind := "--" + f.Name + " " + f.Value.Type()
			if was, ok := kinds[variable]; ok && was != kind {
				say("%s is %q elsewhere and %q here", variable, was, kind)
			}
			kinds[variable] = kind
			if f.Name == "out" && f.Shorthand == "o" && cmd.Flags().Lookup("output") == nil {
				return
			}
			if was, ok := shorthands[f.Shorthand]; ok && f.Shorthand != "" && was != f.Name {
				say("-%s is --%s elsewhere", f.Shorthand, was)
			}
			shorthands[f.Shorthand] = f.Name
		}
		cmd.Flags().VisitAll(look)
		cmd.PersistentFlags().VisitAll(look)
	})
	return problems
}

// page is the help as it is printed.
func page(cmd *cobra.Command) (problems []string) {
	var b strings.Builder
	cmd.Root().SetOut(&b)
	_ = cmd.Help() // it has no error to give
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if len([]rune(line)) > 80 {
			problems = append(problems, fmt.Sprintf("help is wider than 80 columns: %q", line))
		}
		if strings.TrimRight(line, " \t") != line {
			problems = append(problems, fmt.Sprintf("help has blanks at the end of %q", line))
		}
	}
	return problems
}

func exampleLines(cmd *cobra.Command) (lines []string) {
	for line := range strings.Lines(cmd.Example) {
		if strings.HasPrefix(line, "minos ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// examples holds each example against the tree: it has to name this command or one below it, with flags and arguments
// that exist. What follows a pipe, a redirection or a comment is the shell's.
func examples(cmd *cobra.Command, newRoot func() *cobra.Command) (problems []string) {
	for _, line := range exampleLines(cmd) {
		args := strings.Fields(line)[1:]
		if i := slices.IndexFunc(args, func(s string) bool { return strings.ContainsAny(s[:1], "|>#&;") }); i >= 0 {
			args = args[:i]
		}
		if err := tryExample(newRoot(), cmd.CommandPath(), args); err != nil {
			problems = append(problems, fmt.Sprintf("example %q: %v", line, err))
		}
	}
	return problems
}

func tryExample(tree *cobra.Command, path string, args []string) error {
	tree.SetOut(io.Discard)
	tree.SetErr(io.Discard)
	cli.Run(context.Background(), tree, []string{"help"}) // makes the tree ready, and runs nothing else
	found, rest, err := tree.Find(args)
	if err != nil {
		return err
	}
	if found.CommandPath() != path && !strings.HasPrefix(found.CommandPath(), path+" ") {
		return fmt.Errorf("is about %q", found.CommandPath())
	}
	found.InitDefaultHelpFlag()
	if err := found.ParseFlags(rest); err != nil {
		return err
	}
	if found.Flags().Changed("help") {
		return nil
	}
	return found.ValidateArgs(found.Flags().Args())
}
