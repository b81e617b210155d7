// SPDX-License-Identifier: Apache-2.0

package images

import (
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// identified wants IDs that belong to the schematics of the folder.
func identified(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range all.Schematics {
		if one.Document != nil && one.ID != "" {
			beside(all, sheet, one)
		}
	}
	for _, machine := range all.Machines {
		installer, ok := parse(machine.InstallImage())
		if !ok || installer.schematic == "" {
			continue
		}
		place := at(machine)
		switch wanted, known := identities(all, machine); {
		case slices.Contains(wanted, installer.schematic):
			sheet.Pass(place)
		case !known:
			sheet.Unknown(place, "%s is installed with the schematic %.12s, which is not in this folder", machine.Name, installer.schematic)
		default:
			sheet.Fail(place, "%s is installed with the schematic %.12s, and no schematic of this folder has that ID", machine.Name, installer.schematic)
		}
	}
}

// identities are the IDs that the installer of a machine may have, and whether there can be no other: those of the schematics of the
// folder, of which a machine must have one as soon as some are kept as files.
func identities(all *facts.Facts, machine *facts.Machine) (ids []string, known bool) {
	if machine.Pool != nil {
		return []string{machine.Pool.Schematic.ID}, true
	}
	ids = []string{vanilla}
	for _, one := range all.Schematics {
		ids = append(ids, one.ID)
		known = known || one.Document != nil
	}
	return ids, known
}

// beside judges IDs that stand in the file of a schematic, or in its name.
func beside(all *facts.Facts, sheet *rule.Sheet, one *facts.SchematicFact) {
	file := one.Document.File
	if len(file.Documents) > 1 { // of several it cannot be told which is meant
		return
	}
	for _, id := range anID.FindAllString(file.Path+"\n"+string(file.Text), -1) {
		place := all.InTree(file, slices.Concat(file.Find(id), []int{1})[0])
		if id != one.ID {
			sheet.Fail(place, "the file says that its schematic is %.12s, and it is %.12s", id, one.ID).Evidence = one.ID
			continue
		}
		sheet.Pass(place)
	}
}

// at is the installer image of a machine as a place, in the old field or the new document.
func at(machine *facts.Machine) facts.Place {
	if machine.Config != nil && machine.Config.UnattendedInstallConfig() != nil && machine.Pool == nil {
		for _, document := range machine.Documents {
			if document.Kind() == "UnattendedInstallConfig" {
				return machine.DocumentAt("UnattendedInstallConfig", "", "installer.image")
			}
		}
	}
	return machine.At("machine.install.image")
}
