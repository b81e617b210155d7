// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// run runs args on a root with one more command, and returns what it wrote and its exit code.
func run(t *testing.T, cmd *cobra.Command, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err strings.Builder
	root := New(Streams{In: strings.NewReader(""), Out: &out, Err: &err}, testVersion)
	root.AddCommand(cmd)
	code = Run(t.Context(), root, args)
	return out.String(), err.String(), code
}

// flags is a scratch command with a flag of each common type; it prints them.
func flags() *cobra.Command {
	cmd := &cobra.Command{Use: "flags", GroupID: GroupAbout}
	yes := cmd.Flags().Bool("dry-run", false, "change nothing")
	number := cmd.Flags().Int("count", 1, "how many")
	list := cmd.Flags().StringSlice("label", []string{"x"}, "labels")
	wait := cmd.Flags().Duration("wait.max", time.Second, "how long")
	address := cmd.Flags().IP("address", net.IPv4zero, "address")
	format := OutputFlag(cmd, "sarif")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), *yes, *number, *list, *wait, *address, *format)
		return err
	}
	return cmd
}

func TestVariables(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"defaults": {
			want: "false 1 [x] 1s 0.0.0.0 table\n",
		},
		"every flag from its variable": {
			env: map[string]string{
				"MINOS_DRY_RUN": "1", "MINOS_COUNT": "3", "MINOS_LABEL": "a,b", "MINOS_WAIT_MAX": "5m",
				"MINOS_ADDRESS": "10.0.0.1", "MINOS_OUTPUT": "sarif",
			},
			want: "true 3 [a b] 5m0s 10.0.0.1 sarif\n",
		},
		"flags win, lists too": {
			env:  map[string]string{"MINOS_DRY_RUN": "true", "MINOS_COUNT": "3", "MINOS_LABEL": "a,b"},
			args: []string{"--dry-run=false", "--count=5", "--label=c"},
			want: "false 5 [c] 1s 0.0.0.0 table\n",
		},
		"a flag wins when it says the default": {
			env:  map[string]string{"MINOS_COUNT": "3"},
			args: []string{"--count=1"},
			want: "false 1 [x] 1s 0.0.0.0 table\n",
		},
		"an empty variable is unset": {
			env:  map[string]string{"MINOS_COUNT": "", "MINOS_DRY_RUN": ""},
			want: "false 1 [x] 1s 0.0.0.0 table\n",
		},
		"help is no variable": {
			env:  map[string]string{"MINOS_HELP": "please"},
			want: "false 1 [x] 1s 0.0.0.0 table\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			got, stderr, code := run(t, flags(), append([]string{"flags"}, tc.args...)...)
			if diff := cmp.Diff(tc.want, got); diff != "" || stderr != "" || code != ExitOK {
				t.Errorf("exit code %d, stderr %q, stdout (-want +got):\n%s", code, stderr, diff)
			}
		})
	}
}

func TestBadVariables(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a bad bool": {
			env:  map[string]string{"MINOS_DRY_RUN": "maybe"},
			want: "minos: MINOS_DRY_RUN: \"maybe\" is not true or false\n",
		},
		"a bad number": {
			env:  map[string]string{"MINOS_COUNT": "few"},
			want: "minos: MINOS_COUNT: \"few\" is not a whole number\n",
		},
		"a bad duration": {
			env:  map[string]string{"MINOS_WAIT_MAX": "5"},
			want: "minos: MINOS_WAIT_MAX: \"5\" is not a duration such as 30s or 5m\n",
		},
		"a bad choice": {
			env:  map[string]string{"MINOS_OUTPUT": "xml"},
			want: "minos: MINOS_OUTPUT: \"xml\" is not one of table, json, yaml or sarif\n",
		},
		"a type that only knows itself what it accepts": {
			env:  map[string]string{"MINOS_ADDRESS": "here"},
			want: "minos: MINOS_ADDRESS: \"here\": failed to parse IP: \"here\"\n",
		},
		"of two bad ones the first": {
			env:  map[string]string{"MINOS_COUNT": "few", "MINOS_WAIT_MAX": "5"},
			want: "minos: MINOS_COUNT: \"few\" is not a whole number\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			stdout, got, code := run(t, flags(), "flags")
			if diff := cmp.Diff(tc.want, got); diff != "" || stdout != "" || code != ExitError {
				t.Errorf("exit code %d, stdout %q, stderr (-want +got):\n%s", code, stdout, diff)
			}
		})
	}
}

// A variable counts as given: a command that asks Changed must see it, or it would take the user's word for a default.
func TestVariableIsChanged(t *testing.T) {
	t.Setenv("MINOS_COUNT", "1")
	cmd := flags()
	if _, stderr, code := run(t, cmd, "flags"); code != ExitOK {
		t.Fatal(stderr)
	}
	if !cmd.Flags().Changed("count") || cmd.Flags().Changed("label") {
		t.Error("want count changed and label not")
	}
}
