// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/adopt/proof"
	"minos.dev/minos/adopt/topf"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/fleet"
)

// newExport returns the commands that write folders of other tools.
func newExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Make a folder for another tool",
		Long: `Writes a folder of another tool from one of ours, and proves by reading it back
that every machine keeps its configuration. Nobody has to stay with Minos.`,
		Example: "minos export topf fleet --out ../topf",
		GroupID: GroupFolder,
	}
	cmd.AddCommand(newExportTopf())
	return cmd
}

// exportOptions are the flags of an export.
type exportOptions struct {
	out       *string
	age       *[]string
	plaintext *bool
	format    *Format
}

// newExportTopf returns the command that writes folders of topf.
func newExportTopf() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topf DIR",
		Short: "Make a folder of topf",
		Long: `Writes topf.yaml, the secrets, the schematics, and the patches in all/,
control-plane/, worker/ and node/ that lead to the same machine configurations.
Of several clusters, each gets a folder of its name.

Machines that a place makes on demand are named, for topf knows only machines
that exist. Secrets are encrypted for whom they are, or for --age; what holds a
secret of a service is encrypted, too.

Exits with 0 if all machines keep their configurations, and with 2 if something
differs or is not carried over; the folder is written then, too.`,
		Example: "minos export topf fleet --out ../topf\nminos export topf fleet --out topf -o json",
	}
	options := exportOptions{
		out:       cmd.Flags().String("out", "", "folder to write; it must be empty or not exist"),
		age:       ageFlag(cmd),
		plaintext: cmd.Flags().Bool("plaintext", false, "write in clear what is secret"),
		format:    OutputFlag(cmd),
	}
	_ = cmd.MarkFlagRequired("out") // these fail for a flag that does not exist
	_ = cmd.MarkFlagDirname("out")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return options.run(cmd, args[0]) }
	return cmd
}

// run exports every cluster of a folder.
func (o exportOptions) run(cmd *cobra.Command, dir string) error {
	to, err := newTarget(*o.out)
	if err != nil {
		return err
	}
	rendered, err := renderFolder(cmd, dir)
	if err != nil {
		return err
	}
	report, whole := &importReport{}, proof.Result{Differences: []proof.Difference{}}
	var files []newFile
	for _, cluster := range rendered.clusters {
		export, some, err := o.cluster(cluster)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", cluster.Name, err)
		}
		for _, file := range some {
			if len(rendered.clusters) > 1 {
				file.name = path.Join(cluster.Name, file.name)
			}
			files = append(files, file)
		}
		report.Machines += export.Machines
		report.Left = append(report.Left, export.Left...)
		whole.Differences = append(whole.Differences, export.Proof.Differences...)
		whole.Likenesses = append(whole.Likenesses, export.Proof.Likenesses...)
	}
	if err := writeAll(cmd, to.path, files); err != nil {
		return err
	}
	say(cmd, "wrote %s to %s", count(len(files), "file"), to.dir)
	return report.print(cmd, *o.format, whole)
}

// cluster exports one cluster.
func (o exportOptions) cluster(cluster *renderedCluster) (*topf.Export, []newFile, error) {
	found, err := findSecretFile(cluster.dir, cluster.Name)
	if err != nil {
		return nil, nil, err
	}
	file := &secretFile{path: found, secrets: cluster.secrets}
	if file.text, err = readBounded(found); err != nil {
		return nil, nil, err
	}
	bundle, err := plainBundle(file)
	if err != nil {
		return nil, nil, err
	}
	with := file.forMachines()
	with.Values = cluster.values
	all, err := fleet.New(cluster.objects)
	if err != nil {
		return nil, nil, err
	}
	export, err := topf.Write(all, cluster.TalosCluster, with, bundle)
	if err != nil {
		return nil, nil, err
	}
	rule, err := o.rule(file)
	if err != nil {
		return nil, nil, err
	}
	files, err := o.files(export, rule)
	if err != nil {
		return nil, nil, err
	}
	secret, err := o.secret(file, bundle, rule)
	return export, append(files, secret), err
}

// plainBundle is the secrets as topf knows them: without what is ours alone.
func plainBundle(file *secretFile) ([]byte, error) {
	only := *file.secrets
	only.Rotations = nil
	return only.Marshal()
}

// rule is how secrets are encrypted: for whom the user says, or for whom ours are. Without either they are written in clear
// only if the user says so.
func (o exportOptions) rule(file *secretFile) (*sops.Rule, error) {
	recipients := *o.age
	if len(recipients) == 0 {
		if found, err := sops.Recipients(file.text); err == nil {
			recipients = found
		}
	}
	rule, err := ruleFor(filepath.Join(*o.out, topf.SecretsName), recipients)
	switch {
	case err == nil:
		return &rule, nil
	case errors.Is(err, errNoSopsConfig) && *o.plaintext:
		return nil, nil
	case errors.Is(err, errNoSopsConfig):
		return nil, Hint(fmt.Errorf("%s is not encrypted, and nobody is named to encrypt the secrets for", file.path),
			"give --age RECIPIENT, or --plaintext to write them in clear")
	}
	return nil, err
}

// files are the files of an export; those that hold secrets are encrypted.
func (o exportOptions) files(export *topf.Export, rule *sops.Rule) ([]newFile, error) {
	var files []newFile
	for _, name := range slices.Sorted(maps.Keys(export.Files)) {
		file := newFile{name, export.Files[name].Text, modePublic}
		if export.Files[name].Secret {
			file.mode = modeSecret
			if rule != nil {
				text, err := sops.Encrypt(file.text, *rule, rand.Reader, time.Now())
				if err != nil {
					return nil, fmt.Errorf("encrypt %s: %w", name, err)
				}
				file.text = text
			}
		}
		files = append(files, file)
	}
	return files, nil
}

// secret is the file with the cluster's secrets.
func (o exportOptions) secret(file *secretFile, bundle []byte, rule *sops.Rule) (newFile, error) {
	made := newFile{topf.SecretsName, bundle, modeSecret}
	if rule == nil {
		return made, nil
	}
	var err error
	made.text, err = sops.Encrypt(bundle, *rule, rand.Reader, time.Now())
	if err == nil {
		err = allHidden(made.text, file.secrets)
	}
	return made, err
}
