// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"regexp"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// switches wants configurations to be kept, and machines of production not to write everything to their consoles.
func switches(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || machine.Config.RawV1Alpha1() == nil {
			continue
		}
		clean := true
		if isOff(machine, "persist") {
			clean = false
			sheet.Fail(machine.At("persist"), "%s has persist off: it forgets its configuration when it reboots", machine.Name).Patch = turned(all, machine, "persist", "true")
		}
		if machine.Config.Debug() {
			clean = false
			severity := rule.Info
			if machine.Cluster.Production() {
				severity = rule.Warning
			}
			sheet.FailAs(severity, machine.At("debug"), "%s has debug on: every service writes all it does to the console", machine.Name).Patch = turned(all, machine, "debug", "false")
		}
		if clean {
			sheet.Pass(machine.At(""))
		}
	}
}

// keyed is a key with its value, without what follows.
var keyed = regexp.MustCompile(`^[a-z]+:\s*[a-zA-Z"']+`)

// turned writes another value to a switch of the old document; nil if it does not stand on a line of its own in a file.
func turned(all *facts.Facts, machine *facts.Machine, name, value string) *rule.Patch {
	file := fileOf(all, machine.File)
	if machine.Pool != nil || file == nil {
		return nil
	}
	for _, document := range machine.Documents {
		if document.Kind() != "" || document.Get(name) == nil {
			continue
		}
		at := document.LineOf(name)
		if written := keyed.FindString(file.Lines()[at-1]); strings.HasPrefix(written, name+":") {
			return rule.Swap(file, at, written, name+": "+value)
		}
	}
	return nil
}

// The forms of an installer image: one of a factory, by what its schematic says, and the tag and the digest of any.
var (
	ofFactory = regexp.MustCompile(`/[a-z0-9-]*installer(-secureboot)?/[0-9a-f]{64}:`)
	tagged    = regexp.MustCompile(`^[^:@]*:([A-Za-z0-9_][A-Za-z0-9._-]*)`)
	digested  = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
)

// fixed wants installer images that are the same tomorrow, and of the version that is declared.
func fixed(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		name := machine.InstallImage()
		if name == "" {
			continue
		}
		version, digest := tag(name), digested.MatchString(name)
		wanted := string(declared(all, machine))
		place := installAt(machine)
		switch {
		case version == "" && !digest, version == "latest":
			sheet.Fail(place, "%s is installed with %s, which is another image tomorrow", machine.Name, name)
		case version == "":
			unsure(sheet, place, machine, wanted)
		case wanted != "" && version != wanted:
			sheet.Fail(place, "%s is installed with Talos %s, and %s is declared", machine.Name, version, wanted)
		case !digest && !ofFactory.MatchString(name) && machine.Cluster.Production():
			sheet.Fail(place, "%s is installed with %s, whose tag somebody can move to another image", machine.Name, name)
		default:
			sheet.Pass(place)
		}
	}
}

// tag is the tag of an image; empty if it has none.
func tag(name string) string {
	parts := tagged.FindStringSubmatch(name[strings.LastIndex(name, "/")+1:])
	if parts == nil {
		return ""
	}
	return parts[1]
}

// unsure judges an image that is named by its digest alone.
func unsure(sheet *rule.Sheet, place facts.Place, machine *facts.Machine, wanted string) {
	if wanted == "" {
		sheet.Pass(place)
		return
	}
	sheet.Unknown(place, "%s is installed with an image that is named by its digest alone: whether it is Talos %s does not stand there", machine.Name, wanted)
}

// declared is the version of Talos that somebody declares for a machine, and not the one that its image has; empty if nobody does.
func declared(all *facts.Facts, machine *facts.Machine) api.TalosVersion {
	if machine.Cluster.Object != nil {
		return machine.Cluster.Object.Spec.TalosVersion
	}
	return all.Settings.TalosVersion
}

// installAt is where a machine's installer is named, by the old field or the new document.
func installAt(machine *facts.Machine) facts.Place {
	for _, document := range machine.Documents {
		if document.Kind() == "UnattendedInstallConfig" {
			return machine.DocumentAt(document.Kind(), "", "installer.image")
		}
	}
	return machine.At("machine.install.image")
}

// The versions from which kernel arguments come from the image with sd-boot, and from which an upgrade drops them with GRUB.
const (
	unified = "1.10"
	dropped = "1.13"
)

// unpatched wants extensions and kernel arguments to come from the image.
func unpatched(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !sets(machine, "machine.install") {
			continue
		}
		clean := true
		if sets(machine, "machine.install.extensions") {
			clean = false
			sheet.Fail(machine.At("machine.install.extensions"), "%s adds extensions while it is installed, which Talos has given up: they belong in the image", machine.Name)
		}
		if sets(machine, "machine.install.extraKernelArgs") {
			clean = false
			judgeArguments(all, sheet, machine)
		}
		if clean {
			sheet.Pass(machine.At("machine.install"))
		}
	}
}

// judgeArguments judges kernel arguments of a machine's configuration by what boots it.
func judgeArguments(all *facts.Facts, sheet *rule.Sheet, machine *facts.Machine) {
	place := machine.At("machine.install.extraKernelArgs")
	loader := bootloader(all, machine)
	switch {
	case loader == "sd-boot":
		sheet.Fail(place, "%s boots a unified kernel image, which never sees the kernel arguments of its configuration", machine.Name)
	case machine.Since(dropped) && loader == "grub":
		sheet.FailAs(rule.Warning, place, "%s has kernel arguments in its configuration, which the next upgrade drops", machine.Name)
	case machine.Since(dropped):
		sheet.FailAs(rule.Warning, place, "%s has kernel arguments in its configuration: with GRUB the next upgrade drops them, with sd-boot they are never seen", machine.Name)
	case loader == "grub":
		sheet.Pass(place)
	default:
		sheet.Unknown(place, "%s has kernel arguments in its configuration, and whether GRUB boots it is not known: note it as check.minos.dev/bootloader", machine.Name)
	}
}

// bootloader is what boots a machine: by its image, by its schematic, by its version, or by a note; empty if it is not known.
func bootloader(all *facts.Facts, machine *facts.Machine) string {
	if strings.Contains(machine.InstallImage(), "-secureboot") || machine.Since(unified) && machine.Architecture == "arm64" {
		return "sd-boot"
	}
	for _, schematic := range all.Schematics {
		if schematic.Content == nil || !uses(machine, schematic) {
			continue
		}
		if chosen := schematic.Content.Customization.Bootloader.String(); chosen == "grub" || chosen == "sd-boot" {
			return chosen
		}
	}
	if noted := machine.Notes[facts.NoteBootloader]; noted != "" {
		return strings.ToLower(noted)
	}
	if machine.Before(unified) {
		return "grub"
	}
	return ""
}

// uses says whether a machine's image is made from a schematic.
func uses(machine *facts.Machine, schematic *facts.SchematicFact) bool {
	if machine.Pool != nil {
		return machine.Pool.Schematic == schematic
	}
	return schematic.ID != "" && strings.Contains(machine.InstallImage(), schematic.ID)
}
