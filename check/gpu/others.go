// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// vendor is whose graphics processor a machine has: by its role, or by its drivers; empty if it has none.
func vendor(machine *facts.Machine) string {
	if machine.Pool != nil && machine.Pool.Role.Spec.Hardware != nil && machine.Pool.Role.Spec.Hardware.GPU != "" {
		return string(machine.Pool.Role.Spec.Hardware.GPU)
	}
	if found := vendors(machine.Extensions); len(found) > 0 {
		return found[0]
	}
	return ""
}

// vendors are those whose drivers are among extensions, sorted.
func vendors(extensions []string) []string {
	var found []string
	if slices.Contains(extensions, "amdgpu") {
		found = append(found, "AMD")
	}
	if slices.Contains(extensions, "i915") || slices.Contains(extensions, "xe") {
		found = append(found, "Intel")
	}
	if hasNVIDIA(extensions) {
		found = append(found, "NVIDIA")
	}
	return found
}

// amd wants what AMD's processors need.
func amd(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !strings.EqualFold(vendor(machine), "AMD") {
			continue
		}
		var missing []string
		for _, name := range []string{"amdgpu", "amd-ucode"} {
			if !machine.HasExtension(name) {
				missing = append(missing, name)
			}
		}
		halo := strings.Contains(strings.ToLower(machine.Notes[facts.NoteGraphics]), "strix halo")
		if halo && machine.Pool != nil && !slices.ContainsFunc(machine.Pool.Role.Spec.KernelArgs, func(argument string) bool { return strings.HasPrefix(argument, "ttm.pages_limit=") }) {
			missing = append(missing, "the kernel argument ttm.pages_limit")
		}
		report(sheet, machine, missing)
	}
}

// report says what a machine lacks, or that it lacks nothing.
func report(sheet *rule.Sheet, machine *facts.Machine, missing []string) {
	switch {
	case !machine.ExtensionsKnown:
		sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
	case len(missing) > 0:
		sheet.Fail(machine.At(""), "%s has graphics of %s and lacks %s", machine.Name, vendor(machine), strings.Join(missing, ", "))
	default:
		sheet.Pass(machine.At(""))
	}
}

// intel wants what Intel's processors need.
func intel(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !strings.EqualFold(vendor(machine), "Intel") {
			continue
		}
		model := strings.ToLower(machine.Notes[facts.NoteGraphics])
		missing := driver(machine, model)
		if strings.Contains(model, "arc") && strings.Contains(model, "discrete") && !machine.HasExtension("mei") {
			missing = append(missing, "mei")
		}
		report(sheet, machine, missing)
	}
}

// driver is the driver of Intel's that a machine lacks for its processor.
func driver(machine *facts.Machine, model string) []string {
	recent := strings.Contains(model, "battlemage") || strings.Contains(model, "lunar lake")
	switch {
	case machine.HasExtension("xe"):
	case recent:
		return []string{"xe"}
	case !machine.HasExtension("i915"):
		return []string{"i915 or xe"}
	}
	return nil
}

// dedicated wants machines with graphics processors to be kept for work that wants them.
func dedicated(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		whose := strings.ToLower(vendor(machine))
		if whose == "" || machine.Config == nil {
			continue
		}
		tainted, labelled := marked(machine, whose)
		switch place := machine.At("machine.nodeTaints"); {
		case !tainted:
			sheet.Fail(place, "%s has graphics of %s and no taint: any work is put there", machine.Name, vendor(machine))
		case !labelled:
			sheet.Fail(place, "%s has graphics of %s and no label that says so", machine.Name, vendor(machine))
		default:
			sheet.Pass(place)
		}
	}
}

// marked says whether a machine has a taint, and a label that names a vendor: by its configuration, or by its role and its pool,
// whose own reach the Node in other ways too.
func marked(machine *facts.Machine, whose string) (tainted, labelled bool) {
	if node := machine.Config.K8sNodeConfig(); node != nil {
		tainted, labelled = len(node.Taints()) > 0, named(node.Labels(), whose)
	}
	if machine.Pool == nil {
		return tainted, labelled
	}
	tainted, labelled = tainted || len(machine.Pool.Role.Spec.Taints) > 0, labelled || named(machine.Pool.Role.Spec.Labels, whose)
	if config := machine.Pool.Object.Spec.Config; config != nil {
		tainted, labelled = tainted || len(config.Taints) > 0, labelled || named(config.Labels, whose)
	}
	return tainted, labelled
}

// named says whether labels name a vendor.
func named(labels map[string]string, vendor string) bool {
	for key, value := range labels {
		if strings.Contains(strings.ToLower(key+"="+value), vendor) {
			return true
		}
	}
	return false
}

// oneVendor wants the drivers of one vendor in an image.
func oneVendor(all *facts.Facts, sheet *rule.Sheet) {
	for _, schematic := range all.Schematics {
		switch found := vendors(schematic.Extensions()); len(found) {
		case 0:
		case 1:
			sheet.Pass(schematic.Place)
		default:
			sheet.Fail(schematic.Place, "the image has the drivers of %s", strings.Join(found, " and "))
		}
	}
}
