// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/pkg/machinery/platforms"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// of is where a machine runs, as its declaration, its installer image or a note say it; empty if nobody does.
func of(machine *facts.Machine) string {
	if machine.Platform != "" {
		return machine.Platform
	}
	return machine.Notes[facts.NotePlatform]
}

// find returns what Talos knows of a platform.
func find(name string) (platforms.Platform, bool) {
	all := append(platforms.CloudPlatforms(), platforms.MetalPlatform())
	at := slices.IndexFunc(all, func(platform platforms.Platform) bool { return platform.Name == name })
	if at < 0 {
		return platforms.Platform{}, false
	}
	return all[at], true
}

// named wants every machine to name a platform that exists.
func named(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		name := of(machine)
		switch _, exists := find(name); {
		case name == "":
			sheet.Unknown(machine.At(""), "where %s runs is said neither by its installer image nor by a note", machine.Name)
		case !exists:
			sheet.Fail(machine.At(""), "%s is for the platform %q, which Talos does not know", machine.Name, name)
		default:
			sheet.Pass(machine.At(""))
		}
	}
}

// architecture wants images for the processor, and overlays for boards only.
func architecture(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		platform, exists := find(of(machine))
		switch own := string(machine.Architecture); {
		case !exists || own == "":
		case !slices.Contains(platform.Architectures, own):
			sheet.Fail(machine.At(""), "%s is %s, and platform %s has images for %s", machine.Name, own, platform.Name, strings.Join(platform.Architectures, ", "))
		default:
			sheet.Pass(machine.At(""))
		}
	}
	for _, schematic := range all.Schematics {
		if schematic.Content != nil && schematic.Content.Overlay.Name != "" {
			overlay(all.Machines, schematic, sheet)
		}
	}
	profiles(all, sheet)
}

// profiles wants profiles with an overlay to be for boards.
func profiles(all *facts.Facts, sheet *rule.Sheet) {
	for _, profile := range all.Profiles {
		if profile.Document.Map("overlay") != nil && (profile.Content.Arch == "amd64" || profile.Content.Platform != "metal") {
			sheet.Fail(all.InDocument(profile.Document, "overlay"), "the profile has an overlay, and is %s on %s", profile.Content.Arch, profile.Content.Platform)
		}
	}
}

// overlay wants the machines of a schematic with an overlay to be boards.
func overlay(machines []*facts.Machine, schematic *facts.SchematicFact, sheet *rule.Sheet) {
	fine := true
	for _, machine := range machines {
		platform := of(machine)
		board := (platform == "" || platform == "metal") && machine.Architecture != "amd64"
		if strings.Contains(machine.InstallImage(), schematic.ID) && !board {
			fine = false
			sheet.Fail(schematic.Place, "%s has the overlay %s, and is %s on %s", machine.Name, schematic.Content.Overlay.Name, machine.Architecture, platform)
		}
	}
	if fine {
		sheet.Pass(schematic.Place)
	}
}

// methods are the ways of starting a machine, by the words that people use.
var methods = map[string]string{
	"iso": platforms.BootMethodISO, "pxe": platforms.BootMethodPXE, "ipxe": platforms.BootMethodPXE, "image": platforms.BootMethodDiskImage, "disk-image": platforms.BootMethodDiskImage,
}

// booted wants machines to be started in a way that the platform has.
func booted(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		note := pool.Notes[facts.NoteBootMethod]
		if note != "" && len(pool.Machines) > 0 {
			judgeMethod(sheet, pool.At("metadata.annotations"), note, of(pool.Machines[0]))
		}
	}
	for _, profile := range all.Profiles {
		if method := methods[profile.Content.Output.Kind]; method != "" && profile.Content.Platform != "" {
			judgeMethod(sheet, all.InDocument(profile.Document, "output.kind"), method, profile.Content.Platform)
		}
	}
}

// judgeMethod judges one way of starting machines of a platform.
func judgeMethod(sheet *rule.Sheet, place facts.Place, word, name string) {
	platform, exists := find(name)
	method, meant := methods[word], methods[word] != ""
	if slices.Contains(platform.BootMethods, word) {
		method, meant = word, true
	}
	switch {
	case !exists: // which PLT-001 says
	case !meant:
		sheet.Fail(place, "%q is no way of starting a machine: iso, pxe or image", word)
	case !slices.Contains(platform.BootMethods, method):
		sheet.Fail(place, "machines of %s are not started by %s: %s", name, word, strings.Join(platform.BootMethods, ", "))
	default:
		sheet.Pass(place)
	}
}

// oldEnough wants the platform not to be newer than Talos.
func oldEnough(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		platform, exists := find(of(machine))
		version, err := semver.ParseTolerant(string(machine.TalosVersion))
		version.Pre = nil
		switch {
		case !exists:
		case err != nil:
			sheet.Unknown(machine.At(""), "the Talos version of %s is not known", machine.Name)
		case version.LT(platform.MinVersion):
			sheet.Fail(machine.At(""), "%s has Talos %s, and platform %s came with %s", machine.Name, machine.TalosVersion, platform.Name, platform.MinVersion)
		default:
			sheet.Pass(machine.At(""))
		}
	}
}

// possible wants nothing that Talos cannot have.
func possible(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if need := machine.Notes[facts.NoteHostNeeds]; need != "" {
			sheet.Fail(machine.At(""), "%s needs what Talos cannot have: %s", machine.Name, need)
			continue
		}
		sheet.Pass(machine.At(""))
	}
}
