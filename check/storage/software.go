// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// pages is how many huge pages of 2 MiB an engine in user space wants. It is what those engines document.
const pages = 1024

// lacks returns which of some extensions a machine's image does not have.
func lacks(machine *facts.Machine, names ...string) []string {
	return slices.DeleteFunc(names, machine.HasExtension)
}

// longhornTools wants Longhorn's tools and enough machines.
func longhornTools(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !uses(all, cluster, "longhorn") {
			continue
		}
		found := holders(cluster)
		if count := facts.Count(found); count < 3 && len(found) > 0 {
			sheet.Fail(cluster.At("spec.decisions"), "Longhorn keeps three copies, and cluster %s has %d machines for them", cluster.Title(), count)
		}
		for _, machine := range found {
			missing := lacks(machine, "iscsi-tools", "util-linux-tools")
			switch {
			case !machine.ExtensionsKnown:
				sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
			case len(missing) > 0:
				sheet.Fail(machine.At(""), "%s holds data of Longhorn and lacks %s", machine.Name, strings.Join(missing, " and "))
			default:
				sheet.Pass(machine.At(""))
			}
		}
	}
}

// longhornEngine wants what Longhorn's second engine needs.
func longhornEngine(all *facts.Facts, sheet *rule.Sheet) {
	if !slices.ContainsFunc(all.Values, func(values *facts.Values) bool {
		return values.Chart == "longhorn" && values.String("defaultSettings.v2DataEngine") == "true"
	}) {
		return
	}
	for _, cluster := range all.Clusters {
		for _, machine := range holders(cluster) {
			if machine.Config == nil {
				continue
			}
			missing := without(machine, "nvme_tcp", "vfio_pci", "uio_pci_generic")
			if len(machine.Config.RawVolumeConfigs()) == 0 {
				missing = append(missing, "a raw volume")
			}
			report(sheet, machine, missing, "the second engine of Longhorn")
		}
	}
}

// without returns what a machine lacks of huge pages and of some modules.
func without(machine *facts.Machine, modules ...string) []string {
	var missing []string
	if count, _ := strconv.Atoi(machine.Sysctls()["vm.nr_hugepages"]); count < pages {
		missing = append(missing, fmt.Sprintf("%d huge pages (vm.nr_hugepages is %q)", pages, machine.Sysctls()["vm.nr_hugepages"]))
	}
	loaded := machine.Modules()
	for _, module := range modules {
		if _, ok := loaded[module]; !ok {
			missing = append(missing, "the module "+module)
		}
	}
	return missing
}

// report says what a machine lacks for some software, or that it lacks nothing.
func report(sheet *rule.Sheet, machine *facts.Machine, missing []string, software string) {
	if len(missing) > 0 {
		sheet.Fail(machine.At(""), "for %s, %s lacks %s", software, machine.Name, strings.Join(missing, ", "))
		return
	}
	sheet.Pass(machine.At(""))
}

// mayastor wants what the engine of Mayastor needs.
func mayastor(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !uses(all, cluster, "mayastor") {
			continue
		}
		for _, machine := range holders(cluster) {
			if machine.Config == nil {
				continue
			}
			missing := without(machine, "nvme_tcp")
			if node := machine.Config.K8sNodeConfig(); node == nil || node.Labels()["openebs.io/engine"] != "mayastor" {
				missing = append(missing, "the label openebs.io/engine: mayastor")
			}
			report(sheet, machine, missing, "Mayastor")
		}
	}
}

// linstor wants DRBD as Talos can have it.
func linstor(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !uses(all, cluster, "linstor", "piraeus") {
			continue
		}
		for _, machine := range holders(cluster) {
			if machine.Config == nil {
				continue
			}
			if !machine.ExtensionsKnown {
				sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
				continue
			}
			missing := lacks(machine, "drbd")
			if parameters, loaded := machine.Modules()["drbd"]; !loaded || !slices.Contains(parameters, "usermode_helper=disabled") {
				missing = append(missing, "the module drbd with usermode_helper=disabled")
			}
			report(sheet, machine, missing, "LINSTOR")
		}
	}
}

// cephDisks wants three machines with an empty disk for Ceph.
func cephDisks(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !uses(all, cluster, "rook", "ceph") {
			continue
		}
		if count := facts.Count(holders(cluster)); count < 3 {
			sheet.Fail(cluster.At("spec.decisions"), "Ceph keeps three copies, and cluster %s has %d machines for them", cluster.Title(), count)
			continue
		}
		if all.Live == nil || len(all.Live.Resources[facts.LiveDisks]) == 0 {
			sheet.Unknown(cluster.At("spec.decisions"), "whether machines have empty disks is not known: 'talosctl get disks,systemdisk,discoveredvolumes -o json' says it")
			continue
		}
		if count := emptyDisks(all.Live); count < 3 {
			sheet.Fail(cluster.At("spec.decisions"), "Ceph wants an empty disk on three machines, and %d have one", count)
			continue
		}
		sheet.Pass(cluster.At("spec.decisions"))
	}
}

// emptyDisks is how many machines have a disk that is not the system's, is none for reading only, and holds nothing.
func emptyDisks(live *facts.LiveFacts) int {
	used := map[string]bool{}
	for _, system := range live.Resources[facts.LiveSystemDisks] {
		used[system.Node+"/"+system.String("spec.diskID")] = true
	}
	for _, volume := range live.Resources[facts.LiveDiscoveredVolumes] {
		if volume.String("spec.name") != "" || volume.String("spec.parent") != "" {
			used[volume.Node+"/"+strings.TrimPrefix(volume.String("spec.parent"), "/dev/")] = true
			used[volume.Node+"/"+volume.Name()] = used[volume.Node+"/"+volume.Name()] || volume.String("spec.name") != ""
		}
	}
	have := map[string]bool{}
	for _, disk := range live.Resources[facts.LiveDisks] {
		if !used[disk.Node+"/"+disk.Name()] && disk.String("spec.readonly") != "true" && disk.String("spec.cdrom") != "true" && !strings.HasPrefix(disk.Name(), "loop") {
			have[disk.Node] = true
		}
	}
	return len(have)
}
