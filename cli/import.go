// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/spf13/cobra"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/talhelper"
	"minos.dev/minos/adopt/topf"
	"minos.dev/minos/sops"
)

// newImport returns the commands that read folders of other tools.
func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Make a folder from that of another tool",
		Long: `Reads the folder of another tool, writes one of ours, and proves that every
machine keeps its configuration: both folders are rendered and compared,
document by document. What differs is shown with the reason, and what cannot be
carried over is named.

Nothing of the other folder is executed, no network is used, and nothing outside
of the folder is read.`,
		Example: "minos import talhelper talos --out fleet\nminos import topf . --out ../fleet",
		GroupID: GroupFolder,
	}
	cmd.AddCommand(newImportTalhelper(), newImportTopf())
	return cmd
}

// importOptions are the flags of an import.
type importOptions struct {
	out        *string
	config     *string
	env        *[]string
	schematics *[]string
	age        *[]string
	plaintext  *bool
	format     *Format
}

// importFlags gives a command the flags of an import.
func importFlags(cmd *cobra.Command, config string) importOptions {
	options := importOptions{
		out:        cmd.Flags().String("out", "", "folder to write; it must be empty or not exist"),
		config:     cmd.Flags().String("config", "", "path of "+config+" below DIR, if it is not in DIR itself"),
		env:        cmd.Flags().StringArray("env", nil, "variable as NAME=VALUE, or NAME from the environment"),
		schematics: cmd.Flags().StringArray("schematic", nil, "file with a schematic that the folder has the ID of"),
		age:        ageFlag(cmd),
		plaintext:  cmd.Flags().Bool("plaintext", false, "write in clear what was encrypted or is secret"),
		format:     OutputFlag(cmd),
	}
	_ = cmd.MarkFlagRequired("out") // these fail for a flag that does not exist
	_ = cmd.MarkFlagDirname("out")
	return options
}

// newImportTalhelper returns the command that reads folders of talhelper.
func newImportTalhelper() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "talhelper DIR",
		Short: "Make a folder from talconfig.yaml and what belongs to it",
		Long: `Reads talconfig.yaml, talenv.yaml and talsecret.yaml, or their encrypted
relatives, and the patches and files that they name. Computes what
'talhelper genconfig' makes of them, for Talos 1.8 to 1.13, and writes a folder
of ours that makes the same.

Secrets stay encrypted for whom they were. What was encrypted elsewhere in the
folder is not written in clear unless --plaintext says so. Variables that are
not in talenv.yaml are taken from the environment only if --env names them.

Exits with 0 if all machines keep their configurations, and with 2 if something
differs or is not carried over; the folder is written then, too.`,
		Example: "minos import talhelper . --out ../fleet\nminos import talhelper . --config talos/talconfig.yaml --out fleet",
	}
	options := importFlags(cmd, "talconfig.yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return options.run(cmd, args[0], talhelper.Read)
	}
	return cmd
}

// newImportTopf returns the command that reads folders of topf.
func newImportTopf() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topf DIR",
		Short: "Make a folder from topf.yaml and its patches",
		Long: `Reads topf.yaml, secrets.yaml and the patches in all/, control-plane/, worker/
and node/, renders templates, and writes a folder of ours that makes the same
machine configurations.

Programs (nodesProvider, secretsProvider) are not executed, and references to
other stores (ref+...) are not followed: both are named. Templates can use the
variables that --env gives.

Exits with 0 if all machines keep their configurations, and with 2 if something
differs or is not carried over; the folder is written then, too.`,
		Example: "minos import topf . --out ../fleet\nminos import topf . --out fleet --env REGISTRY_MIRROR",
	}
	options := importFlags(cmd, "topf.yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return options.run(cmd, args[0], topf.Read)
	}
	return cmd
}

// run reads a folder, converts it, writes ours and reports.
func (o importOptions) run(cmd *cobra.Command, dir string, read func(*adopt.Folder, adopt.Given) (*adopt.Source, *adopt.File, error)) error {
	to, err := newTarget(*o.out)
	if err != nil {
		return err
	}
	given, err := o.given()
	if err != nil {
		return err
	}
	keys, err := loadKeyring()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Hint(fmt.Errorf("there is no folder %q", dir), "give the folder to import")
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	folder := &adopt.Folder{FS: root.FS(), Decrypt: keys.decrypt}
	source, secrets, err := read(folder, given)
	if err != nil {
		return err
	}
	result, err := adopt.Convert(source, adopt.Options{Plaintext: *o.plaintext})
	if err != nil {
		return err
	}
	made := &importFolder{options: o, to: to, folder: folder, result: result, secrets: secrets}
	if err := made.write(cmd); err != nil {
		return err
	}
	return reportImport(cmd, *o.format, result)
}

// decrypt decrypts what SOPS encrypted.
func (k *keyring) decrypt(text []byte) ([]byte, bool, error) {
	if !sops.Encrypted(text) {
		return text, false, nil
	}
	plain, err := sops.Decrypt(text, k.identities...)
	if missing, ok := errors.AsType[*sops.NoKeyError](err); ok {
		return nil, false, Hint(fmt.Errorf("cannot be decrypted: %w", err), k.missing(missing))
	}
	return plain, err == nil, err
}

// given reads the variables and schematics that were given.
func (o importOptions) given() (adopt.Given, error) {
	given := adopt.Given{Config: *o.config, Env: map[string]string{}, Schematics: map[string]*schematic.Schematic{}}
	for _, one := range *o.env {
		name, value, found := strings.Cut(one, "=")
		if !found {
			if value, found = os.LookupEnv(name); !found {
				return adopt.Given{}, fmt.Errorf("--env: there is no variable %s in the environment", name)
			}
		}
		given.Env[name] = value
	}
	for _, path := range *o.schematics {
		text, err := readBounded(path)
		if err != nil {
			return adopt.Given{}, fmt.Errorf("--schematic: %w", err)
		}
		one, err := schematic.Unmarshal(text)
		if err != nil {
			return adopt.Given{}, fmt.Errorf("--schematic: %s is not a schematic: %w", path, err)
		}
		id, err := one.ID()
		if err != nil {
			return adopt.Given{}, fmt.Errorf("--schematic: %s: %w", path, err)
		}
		given.Schematics[id] = one
	}
	return given, nil
}
