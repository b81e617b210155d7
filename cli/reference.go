// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newReference returns the command from which the reference of the command line is generated. It is a command because only the
// whole program knows all of its commands, and hidden because --help says the same to whoever runs it.
func newReference() *cobra.Command {
	return &cobra.Command{
		Use:     "reference",
		Short:   "Print the reference of all commands as Markdown",
		Example: "minos reference",
		GroupID: GroupAbout,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), referenceOf(cmd.Root()))
			return err
		},
	}
}

// referenceOf is a section for a command and each below it, in the order of help.
func referenceOf(cmd *cobra.Command) string {
	var b strings.Builder
	intro := cmd.Long
	if intro == "" {
		intro = cmd.Short + "."
	}
	fmt.Fprintf(&b, "## %s\n\n%s\n```text\n%s\n```\n", cmd.CommandPath(), paragraphs(intro), usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called `%s`.\n", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n```console\n%s\n```\n", strings.TrimSpace(cmd.Example))
	}
	b.WriteString(commandTable(cmd))
	b.WriteString(flagTable(cmd.LocalFlags(), cmd.InheritedFlags()))
	for _, sub := range shownCommands(cmd) {
		b.WriteString("\n" + referenceOf(sub))
	}
	return b.String()
}

// paragraphs are a text as Markdown: what is indented stays as it is, as in a terminal.
func paragraphs(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.Contains("\n"+paragraph, "\n ") {
			fmt.Fprintf(&b, "```text\n%s\n```\n\n", paragraph)
		} else {
			fmt.Fprintf(&b, "%s\n\n", markdown(paragraph))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// markdown is a text of which Markdown takes no letter for its own.
func markdown(text string) string {
	return strings.NewReplacer("|", "\\|", "*", "\\*", "_", "\\_", "<", "\\<", "[", "\\[", "#", "\\#").Replace(text)
}

// commandTable leads to the commands below one.
func commandTable(cmd *cobra.Command) string {
	if !cmd.HasSubCommands() {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| command | what it does |\n|---|---|\n")
	for _, sub := range shownCommands(cmd) {
		path := sub.CommandPath()
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", path, strings.ReplaceAll(path, " ", "-"), markdown(sub.Short))
	}
	return b.String()
}

// flagTable is a row for every flag that help lists.
func flagTable(sets ...*pflag.FlagSet) string {
	var b strings.Builder
	for _, set := range sets {
		set.VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == helpFlag {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			name := strings.TrimSpace("--" + f.Name + " " + value)
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			if required(f) {
				usage += "; required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", name, markdown(usage), defaultOf(f), variable(f.Name))
		})
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n| flag | what it says | default | variable |\n|---|---|---|---|\n" + b.String()
}

// defaultOf is what a flag says when nobody gives it, in a cell; nothing is nothing.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return "`" + f.DefValue + "`"
}
