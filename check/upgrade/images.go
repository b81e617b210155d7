// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"errors"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
)

// schematicsOf are what the images of a cluster are made from: those of its pools, those that its machines name, and those that
// nobody names.
func schematicsOf(all *facts.Facts, cluster *facts.Cluster) []*facts.SchematicFact {
	var found []*facts.SchematicFact
	for _, schematic := range all.Schematics {
		users := all.Users(schematic)
		own := slices.ContainsFunc(users, func(machine *facts.Machine) bool { return machine.Cluster == cluster })
		if own || schematic.Role == nil && len(users) == 0 || schematic.Role != nil && schematic.Place.Cluster == cluster.Title() {
			found = append(found, schematic)
		}
	}
	return slices.DeleteFunc(found, func(schematic *facts.SchematicFact) bool { return len(schematic.Extensions()) == 0 })
}

// available wants every extension to be there in every version on the way.
func available(all *facts.Facts, sheet *rule.Sheet) {
	for _, m := range movesOf(all) {
		for _, schematic := range schematicsOf(all, m.cluster) {
			if m.unknown != "" {
				sheet.Unknown(schematic.Place, "%s", m.unknown)
			}
			for _, route := range m.routes {
				m.survive(sheet, schematic, route)
			}
		}
	}
}

// survive judges the extensions of one image on one way.
func (m *move) survive(sheet *rule.Sheet, schematic *facts.SchematicFact, route []semver.Version) {
	for _, version := range route[1:] {
		target := api.TalosVersion(show(version))
		for _, name := range schematic.Extensions() {
			if problem := gone(name, target); problem != "" {
				sheet.Fail(schematic.Place, "on the way from Talos %s to %s: %s", show(route[0]), target, problem)
				return
			}
		}
		if !facts.Catalogued(target) {
			sheet.Unknown(schematic.Place, "which extensions Talos %s has is not known: the catalogue of extensions has not read it", target)
			return
		}
	}
	sheet.Pass(schematic.Place)
}

// gone says why a release does not have an extension; nothing if it does. Of a release that the catalogue has not read, only what is
// gone for good is missing.
func gone(name string, version api.TalosVersion) string {
	catalogue, err := extension.Load()
	if err != nil {
		return ""
	}
	architecture := api.AMD64
	found, known := catalogue.Find(name)
	if len(found.Architectures) > 0 {
		architecture = found.Architectures[0]
	}
	unavailable := &extension.UnavailableError{}
	if !errors.As(catalogue.Check(name, version, architecture), &unavailable) || !facts.Catalogued(version) && (!known || found.Until == "") {
		return ""
	}
	return unavailable.Error()
}

// kept wants the image of an upgrade to be that of the role.
func kept(all *facts.Facts, sheet *rule.Sheet) {
	forgotten := forgottenIn(all)
	for _, machine := range all.Machines {
		image := machine.InstallImage()
		plain := machine.ExtensionsKnown && len(machine.Extensions) == 0
		switch place := machine.At("machine.install.image"); {
		case image == "":
		case machine.Pool != nil && !strings.Contains(image, machine.Pool.Schematic.ID):
			sheet.Fail(place, "%s is upgraded with %s, which is not the image of its role %s", machine.Name, image, machine.Pool.Object.Spec.Role)
		case machine.Pool == nil && plain && forgotten != nil:
			sheet.Fail(place, "%s is upgraded with an image without extensions, and %s has %s", machine.Name, forgotten.Place.File, strings.Join(forgotten.Extensions(), ", "))
		case machine.ExtensionsKnown:
			sheet.Pass(place)
		}
	}
	commanded(all, sheet)
}

// forgottenIn is a schematic with extensions of a folder in which no machine has any; nil if there is none.
func forgottenIn(all *facts.Facts) *facts.SchematicFact {
	var found *facts.SchematicFact
	for _, schematic := range all.Schematics {
		if len(schematic.Extensions()) == 0 {
			continue
		}
		if len(all.Users(schematic)) > 0 {
			return nil
		}
		if schematic.Role == nil {
			found = schematic
		}
	}
	return found
}

// installed are the schematics with which machines are installed, and whether any is installed without one.
func installed(all *facts.Facts) (identities []string, plain bool) {
	for _, machine := range all.Machines {
		if parts := identity.FindStringSubmatch(machine.InstallImage()); parts != nil && parts[1] != vanilla {
			identities = append(identities, parts[1])
			continue
		}
		plain = plain || machine.ExtensionsKnown && len(machine.Extensions) == 0
	}
	return identities, plain
}

// commanded judges the images that commands in files name.
func commanded(all *facts.Facts, sheet *rule.Sheet) {
	identities, plain := installed(all)
	if len(identities) == 0 {
		return
	}
	for _, command := range commandsOf(all) {
		image := command.image()
		switch parts := identity.FindStringSubmatch(image); {
		case command.kubernetes:
		case strings.ContainsAny(image, "${"):
			sheet.Unknown(command.place, "which image this upgrades with is not said here: %s", image)
		case parts != nil && slices.Contains(identities, parts[1]):
			sheet.Pass(command.place)
		case parts != nil && parts[1] != vanilla:
			sheet.Fail(command.place, "this upgrades with the schematic %.12s, which no machine here has", parts[1])
		case plain:
			sheet.Unknown(command.place, "this upgrades with an image without extensions, which is right for some machines here and wrong for others")
		default:
			sheet.Fail(command.place, "this upgrades with an image without extensions, and the machines here have some: they are gone afterwards")
		}
	}
}
