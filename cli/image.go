// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/siderolabs/talos/pkg/machinery/gendata"
	"github.com/spf13/cobra"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

// newImage returns the commands about images.
func newImage() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Name the images of roles, and how to get or build them",
		Long: `A role decides what is in an image: extensions and kernel arguments. Together
they are a schematic, whose ID is computed here, without asking anybody, and is
the one that an Image Factory would answer with. All references follow from it:
disk images, ISO, PXE, installers, for every platform that Talos knows.

Nothing here downloads or sends anything.`,
		Example: "minos image list\nminos image url gateway --platform nocloud\nminos image matrix -o workflow > .github/workflows/images.yaml",
		GroupID: GroupImages,
	}
	cmd.AddCommand(
		newImageList(), newImageExtensions(), newImageSchematic(), newImageID(), newImageURL(), newImageInstaller(),
		newImageProfile(), newImageMatrix(), newImagePatch(), newImageBoot(),
	)
	return cmd
}

// newImageList returns the command that lists the images of all roles.
func newImageList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the images of all roles",
		Long: `Lists the image of every built-in role and, with DIR, of those that the folder
declares: the ID of its schematic (whole with -o json), the architectures for
which it can be made, and its extensions. Exits with 3 if one cannot be made.`,
		Example: "minos image list\nminos image list fleet --talos v1.13.9 -o json",
	}
	format := OutputFlag(cmd)
	var wanted image.Image
	talosFlag(cmd, &wanted)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := image.CheckVersion(wanted.Version); err != nil {
			return err
		}
		roles, err := readAllRoles(cmd, args)
		if err != nil {
			return err
		}
		listed, problems := listImages(roles, wanted.Version)
		if err := Print(cmd.OutOrStdout(), *format, listed, func() Table { return imageTable(listed) }); err != nil {
			return err
		}
		sayAssumed(cmd, wanted.Version, roles...)
		for _, problem := range problems {
			say(cmd, "%s", problem)
		}
		if len(problems) > 0 {
			return Exit(ExitFindings, nil)
		}
		return nil
	}
	return cmd
}

// A listedImage is what the list shows of a role's image.
type listedImage struct {
	Role          string             `json:"role"`
	Schematic     string             `json:"schematic,omitempty"`
	Architectures []api.Architecture `json:"architectures,omitempty"`
	Extensions    []string           `json:"extensions,omitempty"`
	KernelArgs    []string           `json:"kernelArgs,omitempty"`
}

// listImages returns what the list shows, and in a line each what is wrong.
func listImages(roles []*api.NodeRole, version api.TalosVersion) (listed []listedImage, problems []string) {
	for _, role := range roles {
		entry := listedImage{Role: role.Name, Extensions: image.Extensions(role)}
		whole, err := image.Schematic(role, schematic.Schematic{})
		if err == nil {
			entry.KernelArgs = whole.Customization.ExtraKernelArgs
			entry.Schematic, err = whole.ID()
		}
		if err == nil {
			entry.Architectures, _, err = image.Architectures(role, version)
		}
		if err != nil {
			problems = append(problems, strings.Split(err.Error(), "\n")...)
		}
		listed = append(listed, entry)
	}
	return listed, problems
}

// imageTable is the list for people.
func imageTable(listed []listedImage) Table {
	table := Table{Columns: []string{"Role", "Schematic", "Architectures", "Extensions"}}
	for _, entry := range listed {
		table.Rows = append(table.Rows, []string{
			entry.Role, short(entry.Schematic), joined(entry.Architectures), joined(entry.Extensions),
		})
	}
	return table
}

// short is as much of an ID as people compare.
func short(id string) string { return id[:min(len(id), 12)] }

// joined is words as a table shows them.
func joined[T ~string](words []T) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// readAllRoles returns the built-in roles and those of a folder, if one is named, each with what it extends.
func readAllRoles(cmd *cobra.Command, dirs []string) ([]*api.NodeRole, error) {
	declared, err := readRoles(cmd.Context(), dirs)
	if err != nil {
		return nil, err
	}
	var roles []*api.NodeRole
	for _, name := range declared.Names() {
		role, err := declared.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// readRole returns the role that the first argument names, with what it extends. The second is a folder.
func readRole(cmd *cobra.Command, args []string) (*api.NodeRole, error) {
	declared, err := readRoles(cmd.Context(), args[1:])
	if err != nil {
		return nil, err
	}
	role, err := declared.Resolve(api.Name(args[0]))
	return role, Hint(err, "'"+strings.Join(append([]string{"minos image list"}, args[1:]...), " ")+"' shows them all")
}

// printReference prints a reference to the image of the role that the first argument names. What was assumed is said
// last: of an image that cannot be had it does not matter.
func printReference(cmd *cobra.Command, args []string, wanted image.Image, reference func(image.Image) (string, error)) error {
	role, err := readRole(cmd, args)
	if err != nil {
		return err
	}
	found, err := image.For(role, wanted)
	if err != nil {
		return err
	}
	line, err := reference(found)
	if err != nil {
		return err
	}
	sayAssumed(cmd, wanted.Version, role)
	_, err = fmt.Fprintln(cmd.OutOrStdout(), line)
	return err
}

// sayAssumed says that what is known of the extensions of roles in a release is an assumption, if it is.
func sayAssumed(cmd *cobra.Command, version api.TalosVersion, roles ...*api.NodeRole) {
	assumed := image.Assumed(version)
	if assumed != "" && slices.ContainsFunc(roles, func(r *api.NodeRole) bool { return len(r.Spec.Extensions) > 0 }) {
		say(cmd, "%s", assumed)
	}
}

// talosFlag gives a command --talos. Without it, the release is the one whose library we are built with.
func talosFlag(cmd *cobra.Command, wanted *image.Image) {
	cmd.Flags().StringVar((*string)(&wanted.Version), "talos", gendata.VersionTag, "Talos `version` that the image is of")
}

// archFlag gives a command --arch.
func archFlag(cmd *cobra.Command, wanted *image.Image) {
	wanted.Architecture = api.AMD64
	value := &choice[api.Architecture]{value: &wanted.Architecture, accepted: []api.Architecture{api.AMD64, api.ARM64}, kind: "arch"}
	cmd.Flags().Var(value, "arch", "architecture of the machines: "+orList(value.accepted))
	_ = cmd.RegisterFlagCompletionFunc("arch", value.complete) // as in OutputFlag
}

// platformFlags gives a command --platform and --secureboot.
func platformFlags(cmd *cobra.Command, wanted *image.Image) {
	cmd.Flags().StringVar(&wanted.Platform, "platform", image.Metal, "`platform` by Talos's name for it")
	cmd.Flags().BoolVar(&wanted.SecureBoot, "secureboot", false, "the signed image, for SecureBoot")
	_ = cmd.RegisterFlagCompletionFunc("platform", cobra.FixedCompletions(image.Platforms(), cobra.ShellCompDirectiveNoFileComp))
}

// factoryFlag gives a command --factory.
func factoryFlag(cmd *cobra.Command, wanted *image.Image) {
	cmd.Flags().StringVar(&wanted.Factory, "factory", image.PublicFactory, "`address` of the Image Factory")
}

// kindFlag gives a command --kind.
func kindFlag(cmd *cobra.Command, accepted []image.Kind) *image.Kind {
	kind := image.Disk
	value := &choice[image.Kind]{value: &kind, accepted: accepted, kind: "kind"}
	cmd.Flags().Var(value, "kind", "kind of file: "+orList(accepted))
	_ = cmd.RegisterFlagCompletionFunc("kind", value.complete) // as in OutputFlag
	return &kind
}
