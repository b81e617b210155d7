// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// asDeclared wants machines to run the extensions that their image should have.
func asDeclared(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range all.Running() {
		if one.Node == nil {
			continue // only Nodes say which extensions they have
		}
		place := one.Node.At("metadata.annotations")
		switch _, known := meant(one.Machine); {
		case one.Machine == nil:
			sheet.Unknown(place, "which of the declared machines %s is cannot be told by its name", one.Name)
		case !known:
			sheet.Unknown(place, "which extensions %s should have is not known", one.Name)
		default:
			compareNode(sheet, one.Node, one.Machine)
		}
	}
}

// compareNode compares what a Node says of its image with what its machine should have.
func compareNode(sheet *rule.Sheet, node *facts.Saved, machine *facts.Machine) {
	place := node.At("metadata.annotations")
	schematic, runs := node.ImageMarks()
	wanted, _ := meant(machine)
	switch silent := schematic == "" && len(runs) == 0; {
	case silent && !machine.Since("1.8"):
		sheet.Unknown(place, "%s does not say which extensions it runs: Talos does so from 1.8", node.Name())
	case schematic != "" && schematic == identity(machine):
		sheet.Pass(place)
	case !slices.Equal(runs, wanted):
		sheet.Fail(place, "%s runs [%s], and its image should have [%s]", node.Name(), strings.Join(runs, " "), strings.Join(wanted, " "))
	case schematic != "" && identity(machine) != "":
		sheet.Fail(place, "%s runs the schematic %.12s, and should run %.12s: its extensions are the same, something else is not", node.Name(), schematic, identity(machine))
	default:
		sheet.Pass(place)
	}
}

// meant are the extensions that a machine should have, sorted, and whether they are known. Of a machine as it runs its pool says them,
// and nothing else does.
func meant(machine *facts.Machine) (extensions []string, known bool) {
	switch {
	case machine == nil:
		return nil, false
	case machine.Running == nil:
		return machine.Extensions, machine.ExtensionsKnown
	case machine.Pool == nil:
		return nil, false
	}
	return slices.Sorted(slices.Values(machine.Pool.Schematic.Extensions())), machine.Pool.Schematic.Error == nil
}

// identity is the schematic that a machine should run; empty if it is not known.
func identity(machine *facts.Machine) string {
	if machine.Pool != nil {
		return machine.Pool.Schematic.ID
	}
	parts := strings.FieldsFunc(machine.InstallImage(), func(r rune) bool { return r == '/' || r == ':' || r == '@' })
	for _, part := range parts {
		if len(part) == 64 {
			return part
		}
	}
	return ""
}

// ended wants machines to have ended their boot, with all services of extensions up.
func ended(all *facts.Facts, sheet *rule.Sheet) {
	stages := map[string]*facts.Saved{}
	for _, status := range all.Live.Resources[facts.LiveMachineStatuses] {
		stages[status.Node] = status
	}
	up := map[string][]string{}
	for _, service := range all.Live.Resources[facts.LiveServices] {
		up[service.Node] = append(up[service.Node], service.Name())
		if strings.HasPrefix(service.Name(), "ext-") && service.String("spec.running") == "false" {
			sheet.Fail(service.At("spec.running"), "%s does not run on %s", service.Name(), all.Live.NameOf(service.Node))
		}
	}
	nodes := slices.Sorted(maps.Keys(stages))
	machines := all.Asked(nodes)
	for _, node := range nodes {
		status, name := stages[node], all.Live.NameOf(node)
		stage := status.String("spec.stage")
		waiting := absent(machines[node], up[node], stage == "running")
		switch {
		case stage != "running":
			sheet.Fail(status.At("spec.stage"), "%s is in the stage %s, and not running%s", name, stage, waits(waiting))
		case len(waiting) > 0:
			sheet.Fail(status.At("spec.stage"), "%s is in the stage running%s", name, waits(waiting))
		default:
			sheet.Pass(status.At("spec.stage"))
		}
	}
	if len(stages) == 0 {
		sheet.Unknown(all.Whole(), "the stages of machines were not saved: 'talosctl get machinestatus,services -o json' says them")
	}
}

// absent are the services that a machine should run and that it does not show: Talos shows no service that waits. One that ends shows
// itself no more: whether it waits can be told only of a machine whose boot has not ended, by what it lacks. Nothing is absent where
// services were not saved, or where it is not known which there should be.
func absent(machine *facts.Machine, up []string, booted bool) []string {
	if machine == nil || len(up) == 0 {
		return nil
	}
	prediction, _ := machine.Boot()
	var missing []string
	for _, service := range prediction.Services {
		_, lacks := service.Lacking()
		if (!service.Once || lacks && !booted) && !slices.Contains(up, service.Name) {
			missing = append(missing, service.Name)
		}
	}
	return missing
}

// waits names services that do not run.
func waits(services []string) string {
	if len(services) == 0 {
		return ""
	}
	return ", and does not run " + strings.Join(services, ", ")
}
