// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/image"
)

// A reference is the name of an installer image in its parts.
type reference struct {
	platform  string // empty in the old form
	schematic string // empty if it is of no factory
	version   string
}

// The forms of an installer image: of a factory, Talos's own, and any other with a tag or a digest.
var (
	ofFactory = regexp.MustCompile(`^[^/]+/(?:([a-zA-Z0-9-]+)-)?installer(?:-secureboot)?/([0-9a-f]{64}):(v[0-9]+\.[0-9]+\.[0-9]+[^@:]*)(?:@sha256:[0-9a-f]{64})?$`)
	ofTalos   = regexp.MustCompile(`^ghcr\.io/siderolabs/installer(?:-base)?:(v[0-9][^@]*)`)
	ofOthers  = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*/[a-z0-9./_-]+(?::[A-Za-z0-9_][A-Za-z0-9._-]*)?(?:@sha256:[0-9a-f]{64})?$`)
)

// parse reads the name of an installer image; false if it has no form that would be found.
func parse(name string) (reference, bool) {
	if parts := ofFactory.FindStringSubmatch(name); parts != nil {
		return reference{platform: parts[1], schematic: parts[2], version: parts[3]}, true
	}
	if parts := ofTalos.FindStringSubmatch(name); parts != nil {
		return reference{version: parts[1]}, true
	}
	if strings.HasPrefix(name, "factory.talos.dev/") {
		return reference{}, false
	}
	last := name[strings.LastIndex(name, "/")+1:]
	return reference{}, ofOthers.MatchString(name) && strings.ContainsAny(last, ":@")
}

// formed wants installer images of today's form.
func formed(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		name := machine.InstallImage()
		if name == "" {
			continue
		}
		installer, ok := parse(name)
		old := installer.schematic != "" && installer.platform == ""
		switch {
		case !ok:
			sheet.Fail(at(machine), "%s is installed with %q, which is no image with a schematic and a version", machine.Name, name)
		case old && facts.Since(installer.version, "1.10"):
			sheet.Fail(at(machine), "%s is installed with the old form installer/, which means metal", machine.Name).Patch = modern(all, machine, name)
		default:
			sheet.Pass(at(machine))
		}
	}
}

// modern writes the platform that the old form means into the line of a file; nil if the image stands in none, or twice.
func modern(all *facts.Facts, machine *facts.Machine, name string) *rule.Patch {
	for _, file := range all.Files {
		lines := file.Find(name)
		if file.Path != machine.File || machine.Pool != nil || len(lines) != 1 {
			continue
		}
		return rule.Swap(file, lines[0], "/installer", "/"+image.Metal+"-installer")
	}
	return nil
}

// samePlatform wants installers of the machine's platform.
func samePlatform(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		installer, ok := parse(machine.InstallImage())
		if !ok || installer.version == "" || !facts.Since(installer.version, "1.10") {
			continue
		}
		platform := installer.platform
		if platform == "" {
			platform = image.Metal
		}
		own := machine.Notes[facts.NotePlatform]
		if machine.Pool != nil {
			own = machine.Platform
		}
		switch {
		case own == "":
			sheet.Unknown(at(machine), "%s is installed with the image of %s, and nobody notes where it runs: check.minos.dev/platform says it", machine.Name, platform)
		case own != platform:
			sheet.Fail(at(machine), "%s runs on %s and is installed with the image of %s: after the next upgrade it would not find its configuration", machine.Name, own, platform)
		default:
			sheet.Pass(at(machine))
		}
	}
}

// asset is a file of a factory from which machines start.
var asset = regexp.MustCompile(`/(?:image|pxe)/([0-9a-f]{64})/v[0-9]`)

// sameAsset wants machines to start from the schematic that they are installed with.
func sameAsset(all *facts.Facts, sheet *rule.Sheet) {
	known := installed(all)
	if len(known) == 0 {
		return
	}
	for _, machine := range all.Machines {
		known = append(known, machine.Notes[facts.NoteBootAsset])
	}
	found := judgeAssets(all, sheet, known)
	for _, machine := range all.Machines {
		made := machine.Pool != nil && machine.Host == nil // Minos starts and installs these from one role
		switch {
		case made || machine.Notes[facts.NoteBootAsset] != "":
			sheet.Pass(machine.At(""))
		case !found && machine.InstallImage() != "":
			sheet.Unknown(machine.At(""), "what %s is started from is not known: note it as check.minos.dev/boot-asset", machine.Name)
		}
	}
}

// installed are the schematics that machines are installed with.
func installed(all *facts.Facts) []string {
	var found []string
	for _, machine := range all.Machines {
		if installer, ok := parse(machine.InstallImage()); ok && installer.schematic != "" {
			found = append(found, installer.schematic)
		}
	}
	return found
}

// judgeAssets judges the files of a factory that the folder names, by the schematics that machines are installed with or that are
// noted, and says whether it names any.
func judgeAssets(all *facts.Facts, sheet *rule.Sheet, known []string) bool {
	found := false
	for _, file := range all.Files {
		if !bytes.Contains(file.Text, []byte("/image/")) && !bytes.Contains(file.Text, []byte("/pxe/")) {
			continue
		}
		for _, parts := range asset.FindAllStringSubmatch(string(file.Text), -1) {
			found = true
			place := all.InTree(file, file.Find(parts[1])[0])
			if !slices.Contains(known, parts[1]) {
				sheet.Fail(place, "machines start from the schematic %.12s, and none is installed with it", parts[1])
				continue
			}
			sheet.Pass(place)
		}
	}
	return found
}
