// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
)

// newSecretsRotate returns the command that replaces a part of a cluster's secrets.
func newSecretsRotate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate CLUSTER",
		Short: "Replace a part of a cluster's secrets, step by step",
		Long: `Replaces an authority or a key so that the cluster does not notice: old and new
overlap, in three steps, between which you apply the configurations to every
machine.

  accept   makes the new one; it is accepted while the old one still issues
  issue    lets the new one issue; the old one is still accepted
  finish   forgets the old one

Each run does one step and says what comes next; the same step again changes
nothing. 'abort' forgets the new one before it has issued anything. Tokens have
no steps, because Talos accepts one only: they are replaced at once. What
cannot be replaced without an outage is refused, with the reason.

With --dry-run nothing is written, and the exit code is 2 if something would
change.`,
		Example: "minos secrets rotate shop --part ca-talos\nminos secrets rotate shop --part ca-talos --step issue\nminos secrets rotate shop --part tokens --dry-run",
	}
	folder := folderFlag(cmd)
	part := choiceFlag(cmd, "part", pki.Parts(), "what to replace:")
	_ = cmd.MarkFlagRequired("part") // it exists: see above
	step := choiceFlag(cmd, "step", pki.Steps(), "what to do:")
	*step = pki.StepAccept
	cmd.Flags().Lookup("step").DefValue = string(pki.StepAccept)
	dryRun := cmd.Flags().Bool("dry-run", false, "say what would change, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *part == pki.PartTokens && cmd.Flags().Changed("step") {
			return about(cmd, "--step: tokens have no steps: leave it out")
		}
		cluster, err := findCluster(cmd, *folder, args[0])
		if err != nil {
			return err
		}
		r := &rotation{cluster: cluster, folder: *folder, part: *part, step: *step, dryRun: *dryRun}
		return r.run(cmd)
	}
	return cmd
}

// choiceFlag gives a command a flag that accepts a few words.
func choiceFlag[T ~string](cmd *cobra.Command, name string, accepted []T, usage string) *T {
	var chosen T
	value := &choice[T]{value: &chosen, accepted: accepted, kind: name}
	cmd.Flags().Var(value, name, usage+" "+orList(accepted))
	// It fails for a flag that does not exist or was registered twice; neither can be here.
	_ = cmd.RegisterFlagCompletionFunc(name, value.complete)
	return &chosen
}

// A rotation is one run of the command.
type rotation struct {
	cluster *declaredCluster
	folder  string
	part    pki.Part
	step    pki.Step
	dryRun  bool
}

// run does one step and says what comes next.
func (r *rotation) run(cmd *cobra.Command) error {
	keys, err := loadKeyring()
	if err != nil {
		return err
	}
	file, err := readSecrets(cmd, r.cluster, keys)
	if err != nil {
		return err
	}
	contract, err := config.Contract(r.cluster.Spec.TalosVersion)
	if err != nil {
		return err
	}
	change, err := file.secrets.Rotate(r.part, r.step, contract, time.Now())
	if err != nil {
		return err
	}
	switch {
	case !change.Changed:
		say(cmd, "%s: nothing to do: %s", r.part, change.Done)
	case r.dryRun:
		say(cmd, "%s: would be written to %s: %s", r.part, file.path, change.Done)
		return Exit(ExitChanges, nil)
	default:
		if err := file.write(change.Secrets); err != nil {
			return err
		}
		say(cmd, "%s: %s\nwrote %s", r.part, change.Done, file.path)
	}
	r.sayNext(cmd, change)
	return nil
}

// sayNext says what to do after a step.
func (r *rotation) sayNext(cmd *cobra.Command, change pki.Change) {
	if change.Apply != "" {
		say(cmd, "next: %s", change.Apply)
	}
	if change.Next != "" {
		folder := ""
		if r.folder != "." {
			folder = " --folder " + r.folder
		}
		say(cmd, "then: %s", fmt.Sprintf("minos secrets rotate %s%s --part %s --step %s", r.cluster.Name, folder, r.part, change.Next))
	}
}
