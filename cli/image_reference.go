// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/spf13/cobra"

	"minos.dev/minos/talos/image"
)

// newImageSchematic returns the command that prints a schematic.
func newImageSchematic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schematic ROLE [DIR]",
		Short: "Print the schematic of a role",
		Long: `Prints the schematic of a role as an Image Factory wants it: the canonical text,
byte by byte what the ID is computed from. With DIR, the roles of the folder
count too. A factory has to be told of a schematic once:

  minos image schematic gateway |
    curl --data-binary @- https://factory.talos.dev/schematics`,
		Example: "minos image schematic compute\nminos image schematic edge fleet --talos v1.13.9 > schematic.yaml",
	}
	var wanted image.Image
	talosFlag(cmd, &wanted)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		role, err := readRole(cmd, args)
		if err != nil {
			return err
		}
		if _, err := image.For(role, wanted); err != nil {
			return err
		}
		sayAssumed(cmd, wanted.Version, role)
		whole, err := image.Schematic(role, schematic.Schematic{})
		if err != nil {
			return err
		}
		text, err := whole.Marshal()
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

// newImageID returns the command that prints the ID of a schematic.
func newImageID() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "id ROLE [DIR]",
		Short: "Print the ID of a role's schematic",
		Long: `Prints the ID of a role's schematic: the one that an Image Factory computes and
that a machine says it runs. It depends on extensions and kernel arguments only;
the Talos version decides whether the extensions exist.`,
		Example: "minos image id compute\nminos image id edge fleet --talos v1.13.9",
	}
	var wanted image.Image
	talosFlag(cmd, &wanted)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return printReference(cmd, args, wanted, func(found image.Image) (string, error) { return found.Schematic, nil })
	}
	return cmd
}

// newImageURL returns the command that prints the address of an image.
func newImageURL() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "url ROLE [DIR]",
		Short: "Print the address of a role's image at a factory",
		Long: `Prints where an Image Factory serves the image of a role, as one of several
kinds of file. The factory must have been told of the schematic once: see
'minos image schematic --help'.`,
		Example: "minos image url compute\nminos image url compute --platform hcloud --arch arm64\nminos image url edge fleet --kind pxe --factory https://factory.example.com",
	}
	var wanted image.Image
	talosFlag(cmd, &wanted)
	archFlag(cmd, &wanted)
	platformFlags(cmd, &wanted)
	factoryFlag(cmd, &wanted)
	kind := kindFlag(cmd, image.Kinds())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return printReference(cmd, args, wanted, func(found image.Image) (string, error) { return found.URL(*kind) })
	}
	return cmd
}

// newImageInstaller returns the command that prints the reference of an installer.
func newImageInstaller() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "installer ROLE [DIR]",
		Short: "Print the reference of a role's installer",
		Long: `Prints the reference of the container image that installs and upgrades machines
of a role, the same for all architectures. It must be of the platform that the
machine was made for: from Talos 1.10 on it brings the kernel's command line.`,
		Example: "minos image installer compute\nminos image installer compute --platform nocloud --secureboot\nminos image installer edge fleet --installer registry.example.com/installer",
	}
	var wanted image.Image
	talosFlag(cmd, &wanted)
	platformFlags(cmd, &wanted)
	factoryFlag(cmd, &wanted)
	cmd.Flags().StringVar(&wanted.Installer, "installer", "", "`repository` of installers, if not the factory")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return printReference(cmd, args, wanted, image.Image.InstallerImage)
	}
	return cmd
}
