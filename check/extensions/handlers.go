// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/api/nearest"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/config"
)

// handlers wants runtime classes to lead to machines that have the runtime.
func handlers(all *facts.Facts, sheet *rule.Sheet) {
	for _, document := range all.Manifests {
		if document.Kind() != "RuntimeClass" || !strings.HasPrefix(document.APIVersion(), "node.k8s.io/") {
			continue
		}
		handler, place := document.String("handler"), all.InDocument(document, "handler")
		known := bringing(handler)
		switch {
		case handler == "runc": // which Talos itself has
			sheet.Pass(place)
		case len(known) == 0:
			sheet.Fail(place, "no extension brings the handler %q of runtime class %s%s", handler, document.Name(), nearest.Hint(handler, handlersKnown()))
		case len(all.Machines) == 0:
			sheet.Unknown(place, "there are no machines to judge the runtime class %s by", document.Name())
		default:
			leads(all, document, known, sheet)
		}
	}
}

// bringing are the extensions that bring a handler.
func bringing(handler string) []string {
	var names []string
	for _, one := range catalogue().Extensions {
		if slices.Contains(one.RuntimeHandlers, handler) {
			names = append(names, one.Name)
		}
	}
	return names
}

// handlersKnown are all handlers that extensions bring.
func handlersKnown() []string {
	var names []string
	for _, one := range catalogue().Extensions {
		names = append(names, one.RuntimeHandlers...)
	}
	return names
}

// leads wants the pods of a runtime class to land on machines with one of some extensions, in a cluster that has such machines: a
// manifest does not say which cluster it is for.
func leads(all *facts.Facts, document *facts.Document, wanted []string, sheet *rule.Sheet) {
	has := func(machine *facts.Machine) bool { return slices.ContainsFunc(wanted, machine.HasExtension) }
	unknown := func(machine *facts.Machine) bool { return !machine.ExtensionsKnown }
	place := all.InDocument(document, "scheduling.nodeSelector")
	handler, found := document.String("handler"), false
	for _, cluster := range all.Clusters {
		if !slices.ContainsFunc(cluster.Machines, has) {
			continue
		}
		found = true
		selected := selects(cluster.Workers(), document)
		if len(cluster.Workers()) == 0 {
			selected = selects(cluster.Machines, document)
		}
		switch without := slices.IndexFunc(selected, func(machine *facts.Machine) bool { return !has(machine) && machine.ExtensionsKnown }); {
		case without >= 0:
			sheet.Fail(place, "pods of runtime class %s can land on %s, whose image has no %s: no extension there brings the handler %s",
				document.Name(), selected[without].Name, strings.Join(wanted, " or "), handler)
		case len(selected) == 0:
			sheet.Unknown(place, "no machine of cluster %s has the labels that runtime class %s selects, as far as they are declared", cluster.Title(), document.Name())
		case slices.ContainsFunc(selected, unknown):
			sheet.Unknown(place, "which extensions are in the images of all machines that runtime class %s selects is not known", document.Name())
		default:
			sheet.Pass(place)
		}
	}
	switch {
	case found:
	case slices.ContainsFunc(all.Machines, unknown):
		sheet.Unknown(place, "which machines have %s is not known", strings.Join(wanted, " or "))
	default:
		sheet.Fail(place, "no machine has %s, which brings the handler %s of runtime class %s", strings.Join(wanted, " or "), handler, document.Name())
	}
}

// selects are the machines on which pods of a runtime class may land.
func selects(machines []*facts.Machine, document *facts.Document) []*facts.Machine {
	selector := document.Map("scheduling.nodeSelector")
	return slices.DeleteFunc(slices.Clone(machines), func(machine *facts.Machine) bool {
		for key, value := range selector {
			if !carries(machine, key, facts.Text(value)) {
				return true
			}
		}
		return false
	})
}

// carries says whether the Node of a machine has a label. Which version of an extension it has is not looked at.
func carries(machine *facts.Machine, key, value string) bool {
	if name, is := strings.CutPrefix(key, facts.ExtensionLabel); is {
		return machine.HasExtension(name)
	}
	switch key {
	case "kubernetes.io/os":
		return value == "linux"
	case "kubernetes.io/arch":
		return machine.Architecture == "" || string(machine.Architecture) == value
	}
	own, has := labels(machine)[key]
	return has && own == value
}

// labels are those that a machine puts on its Node.
func labels(machine *facts.Machine) map[string]string {
	found := map[string]string{}
	if machine.Config != nil && machine.Config.K8sNodeConfig() != nil {
		maps.Copy(found, machine.Config.K8sNodeConfig().Labels())
	}
	if machine.Pool != nil {
		maps.Copy(found, config.Labels(machine.Pool.Role, machine.Pool.Object))
	}
	return found
}
