// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/check/secret"
	"minos.dev/minos/talos/redact"
)

// schematics wants what images are made from to hold no secret.
func schematics(all *facts.Facts, sheet *rule.Sheet) {
	for _, schematic := range all.Schematics {
		switch place := schematic.Place; {
		case schematic.Content != nil:
			custom := schematic.Content.Customization
			texts := map[string]string{"the embedded machine configuration": custom.EmbeddedMachineConfiguration}
			for _, argument := range custom.ExtraKernelArgs {
				texts["a kernel argument"] += argument + "\n"
			}
			for _, value := range custom.Meta {
				texts[fmt.Sprintf("META value %d", value.Key)] = value.Value
			}
			judgeTexts(sheet, place, texts)
		case schematic.Role != nil && schematic.Error != nil && strings.Contains(schematic.Error.Error(), "schematic are public"):
			sheet.Fail(place, "%v", schematic.Error)
		default:
			sheet.Unknown(place, "the schematic cannot be read: %v", schematic.Error)
		}
	}
	for _, profile := range all.Profiles {
		texts := map[string]string{}
		if custom := profile.Content.Customization; custom != nil {
			texts["a kernel argument"] = strings.Join(custom.ExtraKernelArgs, "\n")
		}
		judgeTexts(sheet, all.InDocument(profile.Document, "customization"), texts)
	}
}

// judgeTexts wants none of some texts to hold a secret.
func judgeTexts(sheet *rule.Sheet, place facts.Place, texts map[string]string) {
	fine := true
	for where, text := range texts {
		what := redact.Find(text)
		if found := secret.Scan(place.File, []byte(text)); len(found) > 0 {
			what = found[0].Kind
		}
		if what != "" && !isMarked(text) {
			fine = false
			sheet.Fail(place, "%s holds %s, and everybody can read a schematic", where, what)
		}
	}
	if fine {
		sheet.Pass(place)
	}
}

// isMarked says whether a text only names where a secret comes from.
func isMarked(text string) bool {
	return strings.Contains(text, "${") && !strings.Contains(text, "-----BEGIN")
}

// services wants secrets of extension services to stand elsewhere.
func services(all *facts.Facts, sheet *rule.Sheet) {
	said := map[string]bool{}
	for _, leak := range all.Leaks {
		if inEnvironment(leak) {
			said[leak.File] = true
			sheet.Fail(leak.Place, "%s stands readable in %s: it is %s", leak.Field, leak.File, leak.Kind).Evidence = leak.Evidence
		}
	}
	for _, machine := range all.Machines {
		if machine.Config == nil || said[machine.File] || machine.Rendered {
			continue
		}
		for _, service := range machine.Config.ExtensionServiceConfigs() {
			if slices.ContainsFunc(service.Environment(), isSensitive) {
				sheet.Pass(machine.DocumentAt("ExtensionServiceConfig", service.Name(), "environment"))
			}
		}
	}
	declaredServices(all, sheet)
}

// isSensitive says whether a variable is one whose value is a secret, by its name.
func isSensitive(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return redact.IsSecret([]string{name}) || strings.HasSuffix(strings.ToUpper(name), "AUTHKEY") || strings.HasSuffix(strings.ToUpper(name), "API_KEY")
}

// declaredServices judges the services of declared roles: a value of its own is a secret in a declaration.
func declaredServices(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		for _, service := range pool.Role.Spec.Services {
			for _, variable := range service.Environment {
				value := variable.From.Value
				switch place := pool.At("spec.role"); {
				case !isSensitive(variable.Name):
				case variable.From.Secret != nil:
					sheet.Pass(place)
				case value != "" && !strings.HasPrefix(value, "$"):
					sheet.Fail(place, "role %s of pool %s has the value of %s in its declaration", pool.Role.Name, pool.Object.Name, variable.Name)
				}
			}
		}
	}
}

// signed are where images come from that Sidero Labs builds and signs.
var signed = []string{"factory.talos.dev/", "ghcr.io/siderolabs/"}

// pinned wants images of one's own to be named by digest.
func pinned(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			continue
		}
		judgeImage(sheet, machine.At("machine.install.image"), ofMachine(machine, "is installed from", machine.InstallImage()))
		if own := machine.Config.Machine(); own != nil && !isNil(own.Install()) {
			for _, extension := range own.Install().Extensions() {
				judgeImage(sheet, machine.At("machine.install.extensions"), ofMachine(machine, "has the extension", extension.Image()))
			}
		}
	}
	for _, profile := range all.Profiles {
		if input := profile.Content.Input; input != nil {
			for _, extension := range input.SystemExtensions {
				judgeImage(sheet, all.InDocument(profile.Document, "input.systemExtensions"), usedImage{what: "the profile has the extension", name: extension.ImageRef})
			}
			if input.BaseInstaller != nil {
				judgeImage(sheet, all.InDocument(profile.Document, "input.baseInstaller"), usedImage{what: "the profile starts from", name: input.BaseInstaller.ImageRef})
			}
		}
	}
}

// A usedImage is an image that something is made from, or installed from.
type usedImage struct {
	what, name string
	// verified says that a signature is asked for before it is used.
	verified bool
}

// ofMachine is an image that a machine uses.
func ofMachine(machine *facts.Machine, what, name string) usedImage {
	return usedImage{what: machine.Name + " " + what, name: name, verified: verifies(machine, name)}
}

// judgeImage judges one name of an image. Those that Sidero Labs signs are not one's own.
func judgeImage(sheet *rule.Sheet, place facts.Place, image usedImage) {
	switch {
	case image.name == "" || slices.ContainsFunc(signed, func(prefix string) bool { return strings.HasPrefix(image.name, prefix) }):
	case !strings.Contains(image.name, "@sha256:"):
		sheet.Fail(place, "%s %s, which is not named by digest", image.what, image.name)
	case image.verified:
		sheet.Pass(place)
	default:
		sheet.Unknown(place, "%s %s, by digest; whether it is signed cannot be seen in files", image.what, image.name)
	}
}
