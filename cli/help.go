// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is what a terminal shows of a line without folding it.
const helpWidth = 80

const rootFooter = `Every flag can also be given as a variable: --dry-run is MINOS_DRY_RUN.
Exit codes: 0 done or same, 1 error, 2 changes pending, 3 checks failed.
`

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Print the help of a command",
		Long:    "Print the help of a command, like its --help; alone, the list of commands.",
		Example: "minos help version",
		GroupID: GroupAbout,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if topic.HasSubCommands() && len(rest) > 0 {
				return unknownCommand(topic, rest[0])
			}
			return topic.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range shownCommands(topic) {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// helpText is the help of a command: what it does, how it is called, examples, then its commands or flags.
func helpText(cmd *cobra.Command) string {
	var b strings.Builder
	intro := cmd.Long
	if intro == "" {
		intro = cmd.Short
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(intro), usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		section(&b, "Also called", strings.Join(cmd.Aliases, ", "))
	}
	section(&b, "Examples", cmd.Example)
	for _, group := range slices.Concat(cmd.Groups(), []*cobra.Group{{Title: "Commands"}}) {
		section(&b, group.Title, commandList(cmd, group.ID))
	}
	section(&b, "Flags", flagList(cmd.LocalFlags()))
	section(&b, "Common flags", flagList(cmd.InheritedFlags()))
	if cmd.HasSubCommands() {
		fmt.Fprintf(&b, "\nRun '%s COMMAND --help' for more on a command.\n", cmd.CommandPath())
	}
	if !cmd.HasParent() {
		b.WriteString(rootFooter)
	}
	return b.String()
}

// section writes a title and its text, indented; without text there is no title either.
func section(b *strings.Builder, title, text string) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
	}
}

// usageLine is the one line of how a command is called.
func usageLine(cmd *cobra.Command) string {
	words := append([]string{cmd.CommandPath()}, strings.Fields(cmd.Use)[1:]...)
	if cmd.HasSubCommands() {
		words = append(words, "COMMAND")
	}
	if flagList(cmd.LocalFlags())+flagList(cmd.InheritedFlags()) != "" {
		words = append(words, "[flags]")
	}
	return strings.Join(words, " ")
}

// shownCommands are the children that help lists.
func shownCommands(cmd *cobra.Command) []*cobra.Command {
	var shown []*cobra.Command
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Deprecated == "" {
			shown = append(shown, sub)
		}
	}
	return shown
}

func commandList(cmd *cobra.Command, group string) string {
	width := 10
	for _, sub := range shownCommands(cmd) {
		width = max(width, len(sub.Name()))
	}
	var b strings.Builder
	for _, sub := range shownCommands(cmd) {
		if sub.GroupID == group {
			fmt.Fprintf(&b, "%-*s   %s\n", width, sub.Name(), sub.Short)
		}
	}
	return b.String()
}

// flagList is pflag's list with each flag's variable. It leaves out --help, which whoever reads this has found.
func flagList(flags *pflag.FlagSet) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == helpFlag {
			return
		}
		c := *f
		if required(f) {
			c.Usage += ", required"
		}
		c.Usage += " (" + variable(f.Name) + ")"
		shown.AddFlag(&c)
	})
	// pflag indents by two what section indents again, and leaves six blanks for shorthands.
	var b strings.Builder
	for line := range strings.Lines(shown.FlagUsagesWrapped(helpWidth)) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return b.String()
}
