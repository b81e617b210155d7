// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// wanted are the modules of NVIDIA's driver.
var wanted = []string{"nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm"}

// hasNVIDIA says whether extensions have a driver of NVIDIA.
func hasNVIDIA(extensions []string) bool {
	return slices.ContainsFunc(extensions, func(name string) bool { return openModules(name) || strings.HasPrefix(name, "nonfree-kmod-nvidia") })
}

// openModules says whether an extension is NVIDIA's open driver.
func openModules(name string) bool { return strings.HasPrefix(name, "nvidia-open-gpu-kernel-modules") }

// machines judges those with a driver of NVIDIA.
func machines(all *facts.Facts, judge func(*facts.Machine)) {
	for _, machine := range all.Machines {
		if machine.Config != nil && hasNVIDIA(machine.Extensions) {
			judge(machine)
		}
	}
}

// modules wants the four modules.
func modules(all *facts.Facts, sheet *rule.Sheet) {
	machines(all, func(machine *facts.Machine) {
		loaded := machine.Modules()
		missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
			_, ok := loaded[name]
			return ok
		})
		if len(missing) > 0 {
			sheet.Fail(machine.At("machine.kernel.modules"), "%s has NVIDIA's driver and does not load %s: its boot never ends", machine.Name, strings.Join(missing, ", "))
			return
		}
		sheet.Pass(machine.At("machine.kernel.modules"))
	})
}

// hardening wants the setting while it is needed, and no longer.
func hardening(all *facts.Facts, sheet *rule.Sheet) {
	const setting = "net.core.bpf_jit_harden"
	machines(all, func(machine *facts.Machine) {
		value, set := machine.Sysctls()[setting]
		switch place := machine.At("machine.sysctls"); {
		case machine.TalosVersion == "":
			sheet.Unknown(place, "the Talos version of %s is not known", machine.Name)
		case machine.Before("1.13") && value != "1":
			sheet.Fail(place, "%s needs %s=1 with Talos %s, and has %q", machine.Name, setting, machine.TalosVersion, value)
		case machine.Since("1.13") && set:
			sheet.FailAs(rule.Info, place, "%s has %s=%s, which is not needed from Talos 1.13 on", machine.Name, setting, value)
		default:
			sheet.Pass(place)
		}
	})
}

// versions says whether machines with NVIDIA's driver are of Talos 1.13 or newer, and of older ones.
func versions(all *facts.Facts) (newer, older bool) {
	machines(all, func(machine *facts.Machine) {
		newer = newer || machine.Since("1.13")
		older = older || machine.Before("1.13")
	})
	return newer, older
}

// operator wants NVIDIA's operator to be set up for Talos 1.13.
func operator(all *facts.Facts, sheet *rule.Sheet) {
	if newer, _ := versions(all); !newer {
		return
	}
	for _, values := range all.Values {
		if values.Chart != "gpu-operator" {
			continue
		}
		var wrong []string
		for path, want := range map[string]string{"driver.enabled": "false", "toolkit.enabled": "false", "hostPaths.driverInstallDir": "/usr/local"} {
			if own := values.String(path); own != want {
				wrong = append(wrong, fmt.Sprintf("%s is %q and must be %q", path, own, want))
			}
		}
		slices.Sort(wrong)
		if len(wrong) > 0 {
			sheet.Fail(all.InDocument(values.Document, values.Prefix+"driver"), "the GPU operator does what Talos does: %s", strings.Join(wrong, "; "))
			continue
		}
		sheet.Pass(all.InDocument(values.Document, values.Prefix+"driver"))
	}
	for _, manifest := range all.Manifests {
		if isPlugin(manifest) || isClass(manifest) {
			sheet.Fail(all.InDocument(manifest, "kind"), "%s %s is in the way of the GPU operator from Talos 1.13 on", manifest.Kind(), manifest.Name())
		}
	}
}

// isPlugin says whether an object is NVIDIA's old device plugin.
func isPlugin(manifest *facts.Document) bool {
	return manifest.Kind() == "DaemonSet" && strings.Contains(manifest.Name(), "nvidia-device-plugin")
}

// isClass says whether an object is the RuntimeClass of NVIDIA.
func isClass(manifest *facts.Document) bool {
	return manifest.Kind() == "RuntimeClass" && manifest.String("handler") == "nvidia"
}

// plugin wants the old device plugin to run as it must up to Talos 1.12.
func plugin(all *facts.Facts, sheet *rule.Sheet) {
	if _, older := versions(all); !older {
		return
	}
	class := slices.ContainsFunc(all.Manifests, isClass)
	found := false
	for _, manifest := range all.Manifests {
		if !isPlugin(manifest) {
			continue
		}
		found = true
		switch place := all.InDocument(manifest, "spec.template.spec"); {
		case !class:
			sheet.Fail(place, "there is no RuntimeClass with the handler nvidia for %s", manifest.Name())
		case manifest.String("spec.template.spec.runtimeClassName") != "nvidia":
			sheet.Fail(place, "DaemonSet %s does not run with the RuntimeClass nvidia", manifest.Name())
		default:
			sheet.Pass(place)
		}
	}
	if !found {
		sheet.Unknown(all.Whole(), "the device plugin of NVIDIA is not among the manifests here")
	}
}

// old are generations before Turing, with which the open modules do not work. It is general knowledge, and ours to keep right.
var old = []string{"kepler", "maxwell", "pascal", "volta"}

// generation wants a driver that the processor works with.
func generation(all *facts.Facts, sheet *rule.Sheet) {
	machines(all, func(machine *facts.Machine) {
		model := strings.ToLower(machine.Notes[facts.NoteGraphics])
		open := slices.ContainsFunc(machine.Extensions, openModules)
		spark := strings.Contains(model, "gb10")
		switch place := machine.At(""); {
		case model == "":
			sheet.Unknown(place, "which processor %s has is not noted: check.minos.dev/graphics", machine.Name)
		case open && (spark || slices.ContainsFunc(old, func(name string) bool { return strings.Contains(model, name) })):
			sheet.Fail(place, "%s has the open modules, which do not work with %s", machine.Name, model)
		case spark && machine.Pool != nil && !slices.Contains(machine.Pool.Role.Spec.KernelArgs, "arm64.nobti"):
			sheet.Fail(place, "%s has a GB10 and no kernel argument arm64.nobti", machine.Name)
		default:
			sheet.Pass(place)
		}
	})
}
