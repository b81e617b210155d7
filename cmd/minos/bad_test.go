// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
)

// auditWith audits the tree with one more command, which is fine before change.
func auditWith(change func(*cobra.Command)) []string {
	return audit(func() *cobra.Command {
		tree, cmd := root(), &cobra.Command{
			Use: "good NAME", Short: "Do good", Example: "minos good workers", GroupID: cli.GroupAbout, RunE: nothing,
		}
		change(cmd)
		tree.AddCommand(cmd)
		return tree
	})
}

func nothing(*cobra.Command, []string) error { return nil }

func TestAuditSeesBadCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(cmd *cobra.Command)
		want   []string
	}{
		"nothing is wrong": {
			change: func(*cobra.Command) {},
		},
		"nothing is said": {
			change: func(cmd *cobra.Command) { cmd.Short, cmd.Example, cmd.GroupID, cmd.RunE = "", "", "", nil },
			want: []string{
				"minos good: has no RunE: its errors would be lost",
				"minos good: has no group",
				"minos good: has no Short",
				"minos good: has no Example with a line that starts with 'minos '",
			},
		},
		"words in the wrong form": {
			change: func(cmd *cobra.Command) { cmd.Short, cmd.Use = "do good.", "good <NAME>" },
			want: []string{
				`minos good: "<NAME>" is no argument: write NAME, [NAME], NAME... or [NAME...]`,
				"minos good: Short is a line without a full stop",
				"minos good: Short starts with a capital",
			},
		},
		"a parent that runs, a child with a group": {
			change: func(cmd *cobra.Command) {
				cmd.AddCommand(&cobra.Command{
					Use: "best", Short: "Do best", Example: "minos good best", GroupID: cli.GroupAbout, RunE: nothing,
				})
			},
			want: []string{
				"minos good: has commands and runs too: the frame makes it print its help",
				"minos good best: has a group, which only commands of the root have",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, auditWith(tc.change)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuditSeesBadDetails(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(cmd *cobra.Command)
		want   []string
	}{
		"flags that collide": {
			change: func(cmd *cobra.Command) {
				cmd.Flags().StringP("origin", "o", "", "where from")
				cmd.Flags().Bool("x-y", false, "")
				cmd.Flags().Bool("x.y", false, "Something.")
			},
			want: []string{
				"minos good --origin: -o is --output elsewhere",
				"minos good --x-y: usage is words without a full stop",
				"minos good --x.y: usage is words without a full stop",
				`minos good --x.y: MINOS_X_Y is "--x-y bool" elsewhere and "--x.y bool" here`,
			},
		},
		"help that is too wide": {
			change: func(cmd *cobra.Command) { cmd.Long = "two\n" + strings.Repeat("x", 81) },
			want:   []string{`minos good: help is wider than 80 columns: "` + strings.Repeat("x", 81) + `"`},
		},
		"examples that do not work": {
			change: func(cmd *cobra.Command) {
				cmd.Example = "minos good\nminos good a --frobnicate | cat\nminos version\nminos good a # fine"
			},
			want: []string{
				`minos good: example "minos good": good: NAME is missing (usage: minos good NAME)`,
				`minos good: example "minos good a --frobnicate | cat": unknown flag: --frobnicate`,
				`minos good: example "minos version": is about "minos version"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := auditWith(tc.change)
			// Where two commands collide, the audit names both; which others there are is not this test's matter.
			found = slices.DeleteFunc(found, func(line string) bool { return !strings.HasPrefix(line, "minos good") })
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
