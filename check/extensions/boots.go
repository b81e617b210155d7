// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"maps"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/boot"
)

// configured wants a configuration for every service that waits for one.
func configured(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		prediction, unknown := machine.Boot()
		if unknown != "" {
			sheet.Unknown(machine.At(""), "whether the boot of %s ends cannot be said: %s", machine.Name, unknown)
			continue
		}
		lacking := prediction.Lacking(boot.Configuration, boot.Missing)
		for _, service := range slices.Sorted(maps.Keys(lacking)) {
			sheet.Fail(machine.At(""), "%s has %s in its image and no ExtensionServiceConfig %q: its boot never ends, and it reboots every 70 minutes", machine.Name, service, lacking[service].Name)
		}
		if len(lacking) == 0 && len(prediction.Lacking(boot.Configuration, boot.Provided)) > 0 {
			sheet.Pass(machine.At(""))
		}
	}
}

// provided wants what brings the files that services wait for.
func provided(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		prediction, unknown := machine.Boot()
		if unknown != "" {
			sheet.Unknown(machine.At(""), "whether the boot of %s ends cannot be said: %s", machine.Name, unknown)
			continue
		}
		lacking, unsure := prediction.Lacking(boot.Path, boot.Missing), prediction.Lacking(boot.Path, boot.Unsure)
		for _, service := range slices.Sorted(maps.Keys(lacking)) {
			need := lacking[service]
			sheet.Fail(machine.At(""), "%s waits on %s for %s, which nothing brings: its boot never ends, and it reboots every 70 minutes", service, machine.Name, need.Name).Remedy = need.Remedy
		}
		for _, service := range slices.Sorted(maps.Keys(unsure)) {
			if _, fails := lacking[service]; !fails {
				sheet.Unknown(machine.At(""), "%s waits on %s for %s, and nobody says whether that is there: note the hardware, the hypervisor or its channel", service, machine.Name, unsure[service].Name)
			}
		}
		if len(lacking)+len(unsure) == 0 && len(prediction.Lacking(boot.Path, boot.Provided)) > 0 {
			sheet.Pass(machine.At(""))
		}
	}
}

// belongs wants configurations of services that are there.
func belongs(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || len(machine.Config.ExtensionServiceConfigs()) == 0 {
			continue
		}
		if !machine.ExtensionsKnown {
			sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
			continue
		}
		names := serviceNames(machine.Extensions...)
		for _, config := range machine.Config.ExtensionServiceConfigs() {
			place := machine.DocumentAt("ExtensionServiceConfig", config.Name(), "name")
			if slices.Contains(names, config.Name()) {
				sheet.Pass(place)
				continue
			}
			outcome := sheet.Fail(place, "%s has a configuration %q, and no extension of its image has a service of that name", machine.Name, config.Name())
			if meant := serviceNames(config.Name()); len(meant) > 0 && machine.HasExtension(config.Name()) {
				outcome.Remedy = "write " + meant[0] + ", which is how the service of that extension is called"
			}
		}
	}
}

// serviceNames are the services of extensions.
func serviceNames(extensions ...string) []string {
	var names []string
	for _, name := range extensions {
		found, _ := catalogue().Find(name)
		for _, service := range found.Services {
			names = append(names, service.Name)
		}
	}
	return names
}
