// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minos.dev/minos/api/nearest"
)

// A choice is the value of a flag that accepts a few words.
type choice[T ~string] struct {
	value    *T
	accepted []T
	kind     string // what help calls the value
}

func (c *choice[T]) String() string {
	if c.value == nil { // pflag asks a zero value too
		return ""
	}
	return string(*c.value)
}

func (c *choice[T]) Type() string { return c.kind }

func (c *choice[T]) Set(s string) error {
	if !slices.Contains(c.accepted, T(s)) {
		return fmt.Errorf("%q is not %s", s, c.accepts())
	}
	*c.value = T(s)
	return nil
}

func (c *choice[T]) accepts() string { return "one of " + orList(c.accepted) }

// complete offers the accepted words to the shell.
func (c *choice[T]) complete(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words := make([]cobra.Completion, len(c.accepted))
	for i, word := range c.accepted {
		words[i] = string(word)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// orList writes words as a reader would: "a, b or c".
func orList[T ~string](words []T) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// flagError turns what pflag says about the command line into our one line.
func flagError(cmd *cobra.Command, err error) error {
	// In "minos versoin -o json" the root stumbles over -o; what is wrong is the command before it.
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, e)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return badValue("--"+e.GetFlag().Name, e)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		if accepted := accepts(e.GetFlag()); accepted != "" {
			return fmt.Errorf("--%s: needs a value: %s", e.GetFlag().Name, accepted)
		}
		return fmt.Errorf("--%s: needs a value", e.GetFlag().Name)
	}
	return about(cmd, "%w", err)
}

// badValue names where a value came from, a flag or a variable, the value and what is accepted.
func badValue(source string, e *pflag.InvalidValueError) error {
	if accepted := accepts(e.GetFlag()); accepted != "" {
		return fmt.Errorf("%s: %q is not %s", source, e.GetValue(), accepted)
	}
	return fmt.Errorf("%s: %q: %w", source, e.GetValue(), e.Unwrap())
}

// accepts says which values a flag accepts, in words that follow "is not"; empty if only the value itself knows.
func accepts(f *pflag.Flag) string {
	if c, ok := f.Value.(interface{ accepts() string }); ok {
		return c.accepts()
	}
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int32", "int64":
		return "a whole number"
	case "uint", "uint16", "uint32", "uint64", "count":
		return "a whole number, zero or more"
	case "float32", "float64":
		return "a number"
	case "duration":
		return "a duration such as 30s or 5m"
	}
	return ""
}

func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	name := e.GetSpecifiedName()
	if e.GetSpecifiedShortnames() != "" {
		return Hint(about(cmd, "unknown flag -%s", name), seeHelp(cmd))
	}
	err := about(cmd, "unknown flag --%s", name)
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if near := nearest.Of(name, flags); near != "" {
		return Hint(err, fmt.Sprintf("did you mean --%s?", near))
	}
	// "minos --version" asks for a command.
	if near := nearestCommand(cmd, name); near != nil {
		return Hint(err, fmt.Sprintf("did you mean '%s'?", near.CommandPath()))
	}
	return Hint(err, seeHelp(cmd))
}

// seeHelp is the hint when nothing is near. The help of a parent is a list of commands, whatever its flags.
func seeHelp(cmd *cobra.Command) string {
	what := "flags"
	if cmd.HasSubCommands() {
		what = "commands"
	}
	return fmt.Sprintf("'%s --help' lists the %s", cmd.CommandPath(), what)
}
