// SPDX-License-Identifier: Apache-2.0

package images

import (
	"slices"

	"github.com/blang/semver/v4"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
)

// closed is how many release lines before the newest known one get no more patches for sure.
const closed = 3

// released wants versions that there are.
func released(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if cluster.Object != nil {
			judgeVersion(sheet, cluster.At("spec.talosVersion"), string(cluster.Object.Spec.TalosVersion))
		}
	}
	for _, machine := range all.Machines {
		if machine.Pool == nil {
			judgeVersion(sheet, at(machine), string(machine.TalosVersion))
		}
	}
}

// judgeVersion judges one version by the list of releases that is part of the catalogue of extensions. It has no list of broken
// releases: that is a factory's.
func judgeVersion(sheet *rule.Sheet, place facts.Place, version string) {
	own, err := semver.ParseTolerant(version)
	catalogue, unread := extension.Load()
	switch {
	case version == "":
		sheet.Unknown(place, "the version of Talos is not known")
	case err != nil || unread != nil:
		sheet.Fail(place, "%q is no version of Talos", version)
	case slices.Contains(catalogue.Tags, "v"+own.String()):
		sheet.Pass(place)
	case never(own, catalogue.Tags):
		sheet.Fail(place, "there is no Talos %s: its line ended before that", version)
	default:
		sheet.Unknown(place, "Talos %s is not among the releases that are known, which end with %s: a factory's list of versions says it", version, catalogue.Tags[len(catalogue.Tags)-1])
	}
}

// never says that a version will not be released any more: it is beyond the end of a line that is closed.
func never(own semver.Version, tags []string) bool {
	newest, err := semver.ParseTolerant(tags[len(tags)-1])
	oldest, err2 := semver.ParseTolerant(tags[0])
	return err == nil && err2 == nil && own.GE(oldest) && len(own.Pre) == 0 && own.Major == newest.Major && own.Minor+closed <= newest.Minor
}
