// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestReference is the section of a command with one of everything.
func TestReference(t *testing.T) {
	run := func(*cobra.Command, []string) error { return nil }
	brew := &cobra.Command{
		Use: "brew KIND", Short: "Brew something", Aliases: []string{"make"}, Example: "tea brew green", RunE: run,
		Long: "Brews <KIND> with_care.\n\nTwo ways:\n  slowly\n  quickly",
	}
	brew.Flags().StringP("output", "o", "cup", "`vessel` to pour into, a|b")
	brew.Flags().Bool("hot", false, "let it steam")
	brew.Flags().Int("minutes", 3, "how long")
	brew.Flags().Bool("secretly", false, "tell nobody")
	if err := brew.Flags().MarkHidden("secretly"); err != nil {
		t.Fatal(err)
	}
	if err := brew.MarkFlagRequired("hot"); err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "tea", Short: "All about tea"}
	root.AddCommand(brew, &cobra.Command{Use: "spill", Short: "Spill it", Hidden: true, RunE: run})
	const fence = "```"
	want := "## tea\n\nAll about tea.\n\n" + fence + "text\ntea COMMAND\n" + fence + `

| command | what it does |
|---|---|
| [` + "`tea brew`" + `](#tea-brew) | Brew something |

## tea brew

Brews \<KIND> with\_care.

` + fence + "text\nTwo ways:\n  slowly\n  quickly\n" + fence + "\n\n" + fence + "text\ntea brew KIND [flags]\n" + fence + `

Also called ` + "`make`" + `.

` + fence + "console\ntea brew green\n" + fence + `

| flag | what it says | default | variable |
|---|---|---|---|
| ` + "`--hot` | let it steam; required |  | `MINOS_HOT`" + ` |
| ` + "`--minutes int` | how long | `3` | `MINOS_MINUTES`" + ` |
| ` + "`-o, --output vessel` | vessel to pour into, a\\|b | `cup` | `MINOS_OUTPUT`" + ` |
`
	if diff := cmp.Diff(want, referenceOf(root)); diff != "" {
		t.Error(diff)
	}
}
