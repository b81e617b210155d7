// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// newRender returns the command that writes machine configurations.
func newRender() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render [DIR]",
		Short: "Write the machine configurations of a folder",
		Long: `Writes one file for every machine that DIR, or the current folder, declares, and
a talosconfig for every cluster:

  OUT/CLUSTER/MACHINE.yaml
  OUT/CLUSTER/talosconfig

Machines that a place makes on demand share one file, named after their pool.
Every configuration has passed Talos's own validation for its version; when one
does not, nothing is written. Files that would not change are left alone, and
those of machines that are gone are removed. A talosconfig is kept until half
its life is over.

What is written holds keys and tokens in clear: it is readable for you alone,
and OUT gets a .gitignore of its own. Prints the files that it writes or
removes.`,
		Example: "minos render fleet -o out\nminos render fleet -o out --dry-run",
		GroupID: GroupFolder,
	}
	out := cmd.Flags().StringP("out", "o", "", "folder to write to; it is made if it is not there")
	validity := cmd.Flags().Duration("validity", 365*24*time.Hour, "how long a new talosconfig is valid")
	dryRun := cmd.Flags().Bool("dry-run", false, "print what would be written or removed, and do nothing")
	_ = cmd.MarkFlagRequired("out") // these fail for a flag that does not exist
	_ = cmd.MarkFlagDirname("out")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rendered, err := renderFolder(cmd, append(args, ".")[0])
		if err != nil {
			return err
		}
		to, err := openOutput(*out)
		if err != nil {
			return err
		}
		return rendered.write(cmd, to, *validity, *dryRun)
	}
	return cmd
}

// write brings a folder to what was rendered.
func (r *rendering) write(cmd *cobra.Command, to *output, validity time.Duration, dryRun bool) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	for _, cluster := range r.clusters {
		if len(cluster.secrets.Bundle.Certs.OS.Key) == 0 {
			continue // a control plane that is not of Talos keeps the key of the authority
		}
		name := cluster.file("talosconfig")
		if files[name], err = cluster.talosconfig(filepath.Join(to.root, name), validity); err != nil {
			return fmt.Errorf("talosconfig of %s: %w", cluster.name(), err)
		}
	}
	effects, err := to.effects(files)
	if err != nil {
		return err
	}
	if !dryRun {
		if err := to.apply(cmd.Context(), effects, files); err != nil {
			return err
		}
	}
	for _, effect := range effects {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), effect.verb, filepath.Join(to.root, effect.path)); err != nil {
			return err
		}
	}
	verb := map[bool]string{false: "rendered", true: "would render"}[dryRun]
	say(cmd, "%s %s of %s into %s: %s", verb, count(r.count(), "machine"), count(len(r.clusters), "cluster"), to.root, outcome(len(effects), len(files)))
	return nil
}

// outcome is what became of the files, in words.
func outcome(changed, all int) string {
	if changed == 0 {
		return fmt.Sprintf("all %d files were as they should be", all)
	}
	return count(changed, "file") + " changed"
}

// files are the configurations of all machines, by the path that each is written to.
func (r *rendering) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, cluster := range r.clusters {
		for _, machine := range cluster.machines {
			name := cluster.file(machine.Name + ".yaml")
			if _, taken := files[name]; taken {
				return nil, fmt.Errorf("two machines of cluster %s are called %s: rename a host or a pool", cluster.name(), machine.Name)
			}
			files[name] = machine.Config
		}
	}
	return files, nil
}

// file is where something of the cluster is written, below the output's folder.
func (c *renderedCluster) file(name string) string {
	return filepath.Join(filepath.FromSlash(c.name()), name)
}
