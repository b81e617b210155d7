// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// A shell is one that cobra writes completion for.
type shell struct {
	name   string
	needs  string // what has to be there for it to work; empty is nothing
	now    string // loads it into this shell
	always string // loads it into every new shell
	script func(root *cobra.Command, w io.Writer) error
}

func newCompletion() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a script that completes minos in your shell",
		Long: `Print a script that completes commands, flags and their values when you press
Tab. The help of each shell says how to load it.`,
		Example: "minos completion bash --help",
		GroupID: GroupAbout,
	}
	for _, s := range []shell{
		{
			name:   "bash",
			needs:  "It needs the bash-completion package, version 2.",
			now:    "source <(minos completion bash)",
			always: "minos completion bash > ~/.local/share/bash-completion/completions/minos",
			script: func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		},
		{
			name:   "zsh",
			needs:  "It needs 'autoload -U compinit; compinit' in ~/.zshrc.",
			now:    "source <(minos completion zsh)",
			always: `minos completion zsh > "${fpath[1]}/_minos"`,
			script: (*cobra.Command).GenZshCompletion,
		},
		{
			name:   "fish",
			now:    "minos completion fish | source",
			always: "minos completion fish > ~/.config/fish/completions/minos.fish",
			script: func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		},
		{
			name:   "powershell",
			needs:  "It needs PowerShell 5 or later.",
			now:    "minos completion powershell | Out-String | Invoke-Expression",
			always: "minos completion powershell >> $PROFILE",
			script: (*cobra.Command).GenPowerShellCompletionWithDesc,
		},
	} {
		cmd.AddCommand(s.command())
	}
	return cmd
}

func (s shell) command() *cobra.Command {
	return &cobra.Command{
		Use:     s.name,
		Short:   "Print the completion script for " + s.name,
		Long:    "Print the completion script for " + s.name + ".\n" + s.needs,
		Example: "# in this shell\n" + s.now + "\n# in every new shell\n" + s.always,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.script(cmd.Root(), cmd.OutOrStdout())
		},
	}
}
