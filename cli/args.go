// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/nearest"
)

// arguments reads a usage line: which arguments are required, and how many there may be. "A [B]" is two at most, and
// one that ends in dots may be repeated.
func arguments(use string) (required []string, limit int) {
	for _, word := range strings.Fields(use)[1:] {
		if !strings.HasPrefix(word, "[") {
			required = append(required, strings.TrimSuffix(word, "..."))
		}
		limit++
		if strings.HasSuffix(strings.TrimSuffix(word, "]"), "...") {
			return required, math.MaxInt
		}
	}
	return required, limit
}

// checkArgs holds a command line against its usage line.
func checkArgs(cmd *cobra.Command, args []string) error {
	required, limit := arguments(cmd.Use)
	switch {
	case len(args) < len(required):
		return about(cmd, "%s is missing (usage: %s)", required[len(args)], usageLine(cmd))
	case len(args) > limit:
		return about(cmd, "unexpected argument %q (usage: %s)", args[limit], usageLine(cmd))
	}
	return nil
}

// onlyCommands is the rule for a command that has commands of its own. Without it cobra prints the help of "pool" on
// "pool lsit" and exits with 0.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(cmd *cobra.Command, name string) error {
	path := strings.TrimPrefix(cmd.CommandPath()+" "+name, cmd.Root().Name()+" ")
	err := fmt.Errorf("unknown command %q", path)
	if near := nearestCommand(cmd, name); near != nil {
		return Hint(err, fmt.Sprintf("did you mean '%s'?", near.CommandPath()))
	}
	return Hint(err, seeHelp(cmd))
}

// nearestCommand finds the child that the user most likely meant, by its name, an alias or a word in SuggestFor.
func nearestCommand(cmd *cobra.Command, name string) *cobra.Command {
	known := map[string]*cobra.Command{}
	var names []string
	for _, sub := range shownCommands(cmd) {
		for _, n := range append(append([]string{sub.Name()}, sub.Aliases...), sub.SuggestFor...) {
			known[n] = sub
			names = append(names, n)
		}
	}
	return known[nearest.Of(name, names)]
}
