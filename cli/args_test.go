// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		use       string
		want      []string
		wantLimit int
	}{
		"none":                        {"version", nil, 0},
		"one":                         {"doctor NAME", []string{"NAME"}, 1},
		"one that may be left out":    {"check [DIR]", nil, 1},
		"one and one more":            {"render DIR [ROLE]", []string{"DIR"}, 2},
		"one or more":                 {"apply FILE...", []string{"FILE"}, math.MaxInt},
		"any number":                  {"list [NAME...]", nil, math.MaxInt},
		"one of a few words is one":   {"import talhelper|topf DIR", []string{"talhelper|topf", "DIR"}, 2},
		"one, and then any number of": {"scale POOL [NAME...]", []string{"POOL"}, math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			got, limit := arguments(tc.use)
			if diff := cmp.Diff(tc.want, got); diff != "" || limit != tc.wantLimit {
				t.Errorf("limit %d, want %d; required (-want +got):\n%s", limit, tc.wantLimit, diff)
			}
		})
	}
}

// A command may look at its arguments itself; it does so after the frame counted them and read the variables.
func TestOwnArgs(t *testing.T) {
	t.Setenv("MINOS_STRICT", "true")
	cmd := &cobra.Command{Use: "own NAME", GroupID: GroupAbout, RunE: func(*cobra.Command, []string) error { return nil }}
	strict := cmd.Flags().Bool("strict", false, "refuse upper case")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if *strict && args[0] == "UPPER" {
			return errors.New("refused")
		}
		return nil
	}
	if _, stderr, _ := run(t, cmd, "own", "UPPER"); stderr != "minos: refused\n" {
		t.Errorf("stderr %q", stderr)
	}
	if _, stderr, _ := run(t, cmd, "own"); stderr != "minos: own: NAME is missing (usage: minos own NAME [flags])\n" {
		t.Errorf("stderr %q", stderr)
	}
}

// No arguments are none, whatever the process was started with.
func TestNilArgs(t *testing.T) {
	saved := os.Args
	t.Cleanup(func() { os.Args = saved })
	os.Args = []string{"minos", "frobnicate"}
	cmd := &cobra.Command{Use: "other", GroupID: GroupAbout, RunE: func(*cobra.Command, []string) error { return nil }}
	if stdout, stderr, code := run(t, cmd); code != ExitOK || stdout == "" || stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
