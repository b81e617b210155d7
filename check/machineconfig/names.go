// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/nethelpers"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/config"
)

// distinct wants machines to have names of their own that stay, and labels that arrive.
func distinct(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		if pool.Refused != nil && pool.Role.Spec.MachineType != api.MachineControlPlane {
			judgeLabels(sheet, pool.At("spec.config.labels"), pool.Object.Name, slices.Sorted(maps.Keys(config.Labels(pool.Role, pool.Object))))
		}
	}
	for _, cluster := range all.Clusters {
		taken := map[string]string{}
		for _, machine := range cluster.Machines {
			if machine.Config == nil {
				continue
			}
			judgeName(sheet, machine, taken)
			if !machine.ControlPlane {
				judgeLabels(sheet, labelsAt(machine), machine.Name, labelsOf(machine))
			}
		}
	}
}

// judgeName judges the name of one machine among those of its cluster.
func judgeName(sheet *rule.Sheet, machine *facts.Machine, taken map[string]string) {
	name, place := hostname(machine), nameAt(machine)
	other, twice := taken[name]
	switch {
	case name != "" && twice:
		sheet.Fail(place, "%s and %s are both called %s: the second one takes the Node of the first", other, machine.Name, name)
	case name != "" && machine.Count > 1:
		sheet.Fail(place, "all %d machines of %s are called %s: each takes the Node of the one before", machine.Count, machine.Name, name)
	case name != "":
		taken[name] = machine.Name
		sheet.Pass(place)
	case stays(machine):
		sheet.Pass(place)
	case isOff(machine, "machine.features.stableHostname"):
		sheet.Fail(machine.At("machine.features.stableHostname"), "%s has no name and no stable one: with another address it is another Node", machine.Name)
	default:
		sheet.Unknown(machine.At(""), "%s has no name in its configuration: whether the network gives it one that stays is not known", machine.Name)
	}
}

// stays says whether a machine without a name gets one that stays: from its hardware, from its platform, or from who makes it.
func stays(machine *facts.Machine) bool {
	given := machine.Pool != nil && machine.Host == nil
	platform := machine.Platform != "" && machine.Platform != "metal"
	auto := machine.Config.NetworkHostnameConfig()
	return given || platform || auto != nil && auto.AutoHostname() == nethelpers.AutoHostnameKindStable
}

// nameAt is where a machine's name stands, by the old field or the new document.
func nameAt(machine *facts.Machine) facts.Place {
	for _, document := range machine.Documents {
		if document.Kind() == "HostnameConfig" {
			return machine.DocumentAt(document.Kind(), "", "hostname")
		}
	}
	return machine.At("machine.network.hostname")
}

// labelsOf are the labels that a machine puts on its Node: by Talos, or by its kubelet.
func labelsOf(machine *facts.Machine) []string {
	var found []string
	if node := machine.Config.K8sNodeConfig(); node != nil {
		found = slices.Collect(maps.Keys(node.Labels()))
	}
	if kubelet := machine.Config.K8sKubeletConfig(); kubelet != nil {
		for _, argument := range kubelet.ExtraArgs()[config.NodeLabels] {
			for one := range strings.SplitSeq(argument, ",") {
				label, _, _ := strings.Cut(one, "=")
				found = append(found, label)
			}
		}
	}
	slices.Sort(found)
	return found
}

// labelsAt is where a machine's labels stand, by the old field or the new document.
func labelsAt(machine *facts.Machine) facts.Place {
	for _, document := range machine.Documents {
		if document.Kind() == "KubeNodeConfig" {
			return machine.DocumentAt(document.Kind(), "", "labels")
		}
	}
	return machine.At("machine.nodeLabels")
}

// judgeLabels wants labels that the API server takes from a worker.
func judgeLabels(sheet *rule.Sheet, place facts.Place, name string, labels []string) {
	var wrong []string
	for _, label := range labels {
		if config.Restricted(label) {
			wrong = append(wrong, label)
		}
	}
	if len(wrong) > 0 {
		sheet.Fail(place, "%s may not put %s on its own Node, and with it none of its labels arrives", name, fields(wrong))
	}
}
