// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/image"
)

// newImageExtensions returns the command that lists the catalogue of extensions.
func newImageExtensions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "extensions",
		Short: "List the system extensions of a Talos release",
		Long: `Lists the system extensions that a role can name, with how well each is looked
after (core, extra, contrib, deprecated), the first release of the catalogue
that has it, and what it needs: kernel modules and settings in the machine
configuration, a configuration of its service, files that must appear, other
extensions in the same image, a runtime class in the cluster. A service that
lacks what it waits for keeps a machine from ending its boot.

Without --talos: the newest release that the catalogue has read.`,
		Example: "minos image extensions\nminos image extensions --talos v1.12.7 -o json",
	}
	format := OutputFlag(cmd)
	version := cmd.Flags().String("talos", "", "Talos `version` that has them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		catalogue, err := extension.Load()
		if err != nil {
			return err
		}
		release := api.TalosVersion(*version)
		if release == "" {
			release = api.TalosVersion(catalogue.Tags[len(catalogue.Tags)-1])
		}
		found, err := extensionsOf(catalogue, release)
		if err != nil {
			return err
		}
		if err := Print(cmd.OutOrStdout(), *format, found, func() Table { return extensionTable(found) }); err != nil {
			return err
		}
		if assumed := image.Assumed(release); assumed != "" {
			say(cmd, "%s", assumed)
		}
		return nil
	}
	return cmd
}

// extensionsOf returns the extensions of a release.
func extensionsOf(catalogue *extension.Catalogue, version api.TalosVersion) ([]extension.Extension, error) {
	if err := image.CheckVersion(version); err != nil {
		return nil, err
	}
	names, err := catalogue.Names(version)
	if err != nil {
		return nil, err
	}
	var found []extension.Extension
	for _, name := range names {
		e, _ := catalogue.Find(name) // it named it itself
		found = append(found, e)
	}
	return found, nil
}

// extensionTable is the list for people.
func extensionTable(found []extension.Extension) Table {
	table := Table{Columns: []string{"Name", "Tier", "Since", "Architectures", "Needs"}}
	for _, e := range found {
		architectures := "all"
		if len(e.Architectures) > 0 {
			architectures = joined(e.Architectures)
		}
		table.Rows = append(table.Rows, []string{e.Name, e.Tier, e.Since, architectures, strings.Join(needs(e), "; ")})
	}
	return table
}

// needs is what must be there for an extension to work, beside the extension.
func needs(e extension.Extension) []string {
	var all []string
	for _, module := range e.Modules {
		all = append(all, "module "+orList(module.AnyOf))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Sysctls)) {
		all = append(all, "sysctl "+name+"="+e.Sysctls[name])
	}
	for _, service := range e.Services {
		if service.NeedsConfig {
			all = append(all, "configuration of service "+service.Name)
		}
		for _, path := range service.WaitsForPaths {
			all = append(all, "file "+path)
		}
	}
	for _, name := range e.Requires {
		all = append(all, "extension "+name)
	}
	if len(e.RequiresOneOf) > 0 {
		all = append(all, "extension "+orList(e.RequiresOneOf))
	}
	for _, handler := range e.RuntimeHandlers {
		all = append(all, "runtime class "+handler)
	}
	return slices.Compact(all)
}
