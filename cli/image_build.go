// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/talos/image"
)

// newImageProfile returns the command that prints an imager profile.
func newImageProfile() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile ROLE [DIR]",
		Short: "Print a profile with which Talos's imager builds a role's image",
		Long: `Prints a profile for Talos's imager, to build the image of a role without an
Image Factory. Extensions are pinned by digest; --digests is the list of them
that Talos publishes with every release:

  crane export ghcr.io/siderolabs/extensions:v1.13.9 |
    tar x -O image-digests > image-digests

A machine with an image that was built this way does not say which schematic it
runs: the factory adds that.`,
		Example: "minos image profile compute --talos v1.13.9 --digests image-digests\nminos image profile plain --kind iso --arch arm64",
	}
	var wanted image.Image
	talosFlag(cmd, &wanted)
	archFlag(cmd, &wanted)
	platformFlags(cmd, &wanted)
	kind := kindFlag(cmd, []image.Kind{image.Disk, image.ISO, image.Kernel, image.Initramfs, image.Cmdline, image.UKI, image.Installer})
	file := cmd.Flags().String("digests", "", "`file` with the digests of the release's extensions")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		role, err := readRole(cmd, args)
		if err != nil {
			return err
		}
		digests, err := readDigests(*file)
		if err != nil {
			return digestsHint(err, wanted)
		}
		profile, err := image.NewProfile(role, wanted, *kind, digests)
		if err != nil {
			return digestsHint(err, wanted)
		}
		sayAssumed(cmd, wanted.Version, role)
		text, err := profile.Text()
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

// readDigests reads a file of digests; without a file there are none.
func readDigests(file string) (image.Digests, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readText(file)
	if err != nil {
		return nil, err
	}
	digests, err := image.ParseDigests(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return digests, nil
}

// digestsHint says how to get digests, where they are what is wrong.
func digestsHint(err error, wanted image.Image) error {
	if _, ok := errors.AsType[*image.DigestsError](err); !ok {
		return err
	}
	return Hint(err, fmt.Sprintf("'crane export ghcr.io/siderolabs/extensions:%s | tar x -O image-digests > image-digests' gets them for --digests image-digests", wanted.Version))
}

// formatWorkflow is a workflow of GitHub Actions.
const formatWorkflow Format = "workflow"

// newImageMatrix returns the command that prints the build matrix.
func newImageMatrix() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "matrix [DIR]",
		Short: "Print the matrix of all images, for a pipeline that builds them",
		Long: `Prints every role on every architecture on which it works: the built-in roles
and, with DIR, those that the folder declares. As json it is a matrix as GitHub
Actions takes it; as workflow it is a whole one, which checks every schematic,
fetches every image from the factory and keeps it with its checksum.

A role of which no image can be made is an error, and nothing is printed.`,
		Example: "minos image matrix\nminos image matrix fleet -o json\nminos image matrix fleet -o workflow > .github/workflows/images.yaml",
	}
	format := OutputFlag(cmd, formatWorkflow)
	var wanted image.Image
	talosFlag(cmd, &wanted)
	platformFlags(cmd, &wanted)
	factoryFlag(cmd, &wanted)
	kind := kindFlag(cmd, image.Kinds())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		roles, err := readAllRoles(cmd, args)
		if err != nil {
			return err
		}
		matrix, leftOut, err := image.NewMatrix(roles, wanted, *kind)
		if err != nil {
			return err
		}
		sayAssumed(cmd, wanted.Version, roles...)
		for _, sentence := range leftOut {
			say(cmd, "%s", sentence)
		}
		return printMatrix(cmd.OutOrStdout(), *format, matrix)
	}
	return cmd
}

// printMatrix prints a matrix in a format.
func printMatrix(w io.Writer, format Format, matrix *image.Matrix) error {
	if format != formatWorkflow {
		return Print(w, format, matrix, func() Table { return matrixTable(matrix) })
	}
	text, err := matrix.Workflow()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// matrixTable is the matrix for people.
func matrixTable(matrix *image.Matrix) Table {
	table := Table{Columns: []string{"Name", "Suffix", "Schematic", "Extensions", "Purpose"}}
	for _, build := range matrix.Include {
		table.Rows = append(table.Rows, []string{build.Name, build.Suffix, short(build.Schematic), joined(build.Extensions), build.Purpose})
	}
	return table
}

// newImagePatch returns the command that prints the patch for Cozystack.
func newImagePatch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "patch FILE",
		Short: "Print a patch with which Cozystack builds images of any role",
		Long: `Prints a patch for hack/gen-profiles.sh of a Cozystack checkout, which 'git
apply' takes. With it a role is variables: TALOS_EXTENSIONS, TALOS_ARCH,
TALOS_ROLE_SUFFIX (appended to the folder of the profiles) and
TALOS_BASE_INSTALLER, which from Talos 1.14 on must be
ghcr.io/siderolabs/installer-base. Without them the script writes what it wrote
before, byte by byte. 'minos image matrix' has the values.

FILE is only read. A script without the expected places is refused.`,
		Example: "minos image patch packages/core/talos/hack/gen-profiles.sh | git apply\nminos image patch packages/core/talos/hack/gen-profiles.sh > roles.patch",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := readText(args[0])
		if err != nil {
			return Hint(err, "give hack/gen-profiles.sh of a Cozystack checkout")
		}
		patch, err := image.Patch(pathInCheckout(args[0]), text)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), patch)
		return err
	}
	return cmd
}

// pathInCheckout is the path of a file as git sees it from the top of a Cozystack checkout, wherever that lies.
func pathInCheckout(file string) string {
	file = filepath.ToSlash(filepath.Clean(file))
	if at := strings.LastIndex("/"+file, "/packages/"); at >= 0 {
		return file[at:]
	}
	return strings.TrimLeft(file, "./")
}

// readText reads a file that is named by hand.
func readText(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %q", file)
	case err != nil:
		return "", err
	case info.Size() > largest:
		return "", fmt.Errorf("%s has %d MiB, and is not what is wanted here", file, info.Size()>>20)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
