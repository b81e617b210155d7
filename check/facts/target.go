// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

// Targets are the Talos versions with which a schematic is used: of its role's cluster; of the machines that name it; or, if none
// does, of the folder. Empty if nobody says.
func (f *Facts) Targets(schematic *SchematicFact) []api.TalosVersion {
	if schematic.TalosVersion != "" {
		return []api.TalosVersion{schematic.TalosVersion}
	}
	var found []api.TalosVersion
	for _, machine := range f.Users(schematic) {
		found = append(found, machine.TalosVersion)
	}
	if len(found) == 0 {
		found = append(found, f.Settings.TalosVersion)
		for _, cluster := range f.Clusters {
			found = append(found, cluster.TalosVersion())
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(version api.TalosVersion) bool { return version == "" })
}

// Users are the machines that a schematic is for: those of its pool, or those whose image names it.
func (f *Facts) Users(schematic *SchematicFact) []*Machine {
	if schematic.pool != nil {
		return schematic.pool.Machines
	}
	var found []*Machine
	for _, machine := range f.Machines {
		if schematic.ID != "" && strings.Contains(machine.InstallImage(), schematic.ID) {
			found = append(found, machine)
		}
	}
	return found
}

// Catalogued says whether the catalogue of extensions knows the release line of a version. A later patch of a line that it has read
// has the extensions of that line.
func Catalogued(version api.TalosVersion) bool {
	catalogue, err := extension.Load()
	if err != nil {
		return false
	}
	newest, err := semver.ParseTolerant(catalogue.Tags[len(catalogue.Tags)-1])
	if err != nil {
		return false
	}
	release, err := semver.ParseTolerant(string(version))
	return err == nil && (catalogue.Knows(version) || release.Major == newest.Major && release.Minor == newest.Minor)
}
