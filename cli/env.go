// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpFlag is cobra's own, and the one flag that is no variable: it asks about a command instead of running it.
const helpFlag = "help"

// variable names the variable of a flag.
func variable(flag string) string {
	return "MINOS_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(flag))
}

// readVariables sets the flags that were not given from their variables. It runs after parsing, not before: a list
// flag would add to what the variable said instead of replacing it.
func readVariables(cmd *cobra.Command) error {
	var first error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(variable(f.Name))
		if first != nil || f.Changed || f.Name == helpFlag || value == "" {
			return
		}
		err := cmd.Flags().Set(f.Name, value)
		if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = badValue(variable(f.Name), bad)
		}
		first = err
	})
	return first
}

// checkRequired says what cobra would say later, with the variable that would do as well.
func checkRequired(cmd *cobra.Command) error {
	var first error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if first != nil || f.Changed || !required(f) {
			return
		}
		first = Hint(about(cmd, "--%s is required", f.Name),
			fmt.Sprintf("give --%s or set %s", f.Name, variable(f.Name)))
	})
	return first
}

// required reports whether the command marked the flag with MarkFlagRequired.
func required(f *pflag.Flag) bool {
	mark := f.Annotations[cobra.BashCompOneRequiredFlag]
	return len(mark) == 1 && mark[0] == "true"
}
