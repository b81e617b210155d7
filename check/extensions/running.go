// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// virtual are the names under which Talos shows what is no extension of anybody: the schematic, and its own list of modules.
var virtual = []string{"schematic", "modules.dep"}

// asDeclared wants machines to run the extensions that their image should have.
func asDeclared(all *facts.Facts, sheet *rule.Sheet) {
	for _, node := range all.Live.Nodes {
		place := node.At("metadata.annotations")
		switch machine := machineOf(all, node.Name()); {
		case machine == nil:
			sheet.Unknown(place, "which of the declared machines %s is cannot be told by its name", node.Name())
		case !machine.ExtensionsKnown:
			sheet.Unknown(place, "which extensions %s should have is not known", node.Name())
		default:
			compareNode(sheet, node, machine)
		}
	}
}

// compareNode compares what a Node says of its image with what its machine should have.
func compareNode(sheet *rule.Sheet, node *facts.Saved, machine *facts.Machine) {
	place := node.At("metadata.annotations")
	schematic, runs := shown(node)
	switch silent := schematic == "" && len(runs) == 0; {
	case silent && !machine.Since("1.8"):
		sheet.Unknown(place, "%s does not say which extensions it runs: Talos does so from 1.8", node.Name())
	case schematic != "" && schematic == identity(machine):
		sheet.Pass(place)
	case !slices.Equal(runs, machine.Extensions):
		sheet.Fail(place, "%s runs [%s], and its image should have [%s]", node.Name(), strings.Join(runs, " "), strings.Join(machine.Extensions, " "))
	case schematic != "" && identity(machine) != "":
		sheet.Fail(place, "%s runs the schematic %.12s, and should run %.12s: its extensions are the same, something else is not", node.Name(), schematic, identity(machine))
	default:
		sheet.Pass(place)
	}
}

// shown is what a Node says of its image: the schematic, and the extensions, sorted.
func shown(node *facts.Saved) (schematic string, extensions []string) {
	found := map[string]string{}
	for _, path := range []string{"metadata.labels", "metadata.annotations"} {
		values, _ := node.Get(path).(map[string]any)
		for key, value := range values {
			if name, is := strings.CutPrefix(key, extensionLabel); is {
				found[name] = facts.Text(value)
			}
		}
	}
	schematic = found["schematic"]
	for _, name := range virtual {
		delete(found, name)
	}
	return schematic, slices.Sorted(maps.Keys(found))
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

// machineOf is the machine that a name or an address is of: its own; or, of machines that are made on demand, one of a pool whose
// name the Node's begins with. Nil if there is none, or more than one could be meant.
func machineOf(all *facts.Facts, name string) *facts.Machine {
	var found []*facts.Machine
	for _, machine := range all.Machines {
		demanded := machine.Pool != nil && machine.Host == nil
		switch {
		case machine.Name == name || hostname(machine) == name || machine.Host != nil && string(machine.Host.Address) == name:
			return machine
		case demanded && (strings.HasPrefix(name, machine.Name+"-") || strings.HasPrefix(name, machine.Cluster.Name+"-"+machine.Name+"-")):
			found = append(found, machine)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// hostname is the name that a configuration gives its machine; empty if it gives none.
func hostname(machine *facts.Machine) string {
	if machine.Config == nil || machine.Config.NetworkHostnameConfig() == nil {
		return ""
	}
	return machine.Config.NetworkHostnameConfig().Hostname()
}

// ended wants machines to have ended their boot, with all services of extensions up.
func ended(all *facts.Facts, sheet *rule.Sheet) {
	stages := map[string]*facts.Saved{}
	for _, status := range all.Live.Resources["MachineStatuses.runtime.talos.dev"] {
		stages[status.Node] = status
	}
	up := map[string][]string{}
	for _, service := range all.Live.Resources["Services.v1alpha1.talos.dev"] {
		up[service.Node] = append(up[service.Node], service.Name())
		if strings.HasPrefix(service.Name(), "ext-") && service.String("spec.running") == "false" {
			sheet.Fail(service.At("spec.running"), "%s does not run on %s", service.Name(), service.Node)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(stages)) {
		status := stages[node]
		waiting := absent(all, node, up[node])
		switch stage := status.String("spec.stage"); {
		case stage != "running":
			sheet.Fail(status.At("spec.stage"), "%s is in the stage %s, and not running%s", node, stage, waits(waiting))
		case len(waiting) > 0:
			sheet.Fail(status.At("spec.stage"), "%s is in the stage running%s", node, waits(waiting))
		default:
			sheet.Pass(status.At("spec.stage"))
		}
	}
	if len(stages) == 0 {
		sheet.Unknown(all.Whole(), "the stages of machines were not saved: 'talosctl get machinestatus,services -o json' says them")
	}
}

// absent are the services that a machine should run and that it does not show: Talos shows no service that waits. Nothing is absent
// where services were not saved, or where it is not known which there should be.
func absent(all *facts.Facts, node string, up []string) []string {
	machine := machineOf(all, node)
	if machine == nil || len(up) == 0 {
		return nil
	}
	prediction, _ := machine.Boot()
	var missing []string
	for _, service := range prediction.Services {
		if !service.Once && !slices.Contains(up, service.Name) {
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
