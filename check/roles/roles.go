// SPDX-License-Identifier: Apache-2.0

package roles

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// defined wants every pool's role to be defined.
func defined(all *facts.Facts, sheet *rule.Sheet) {
	for _, document := range all.Documents {
		pool, ok := document.Object.(*api.NodePool)
		if !ok {
			continue
		}
		place := facts.Place{File: document.File, Line: document.LineOf("spec.role"), Path: "spec.role", Machine: pool.Name, Environment: all.Whole().Environment}
		if _, err := all.Fleet.Role(pool); err != nil {
			sheet.Fail(place, "pool %s: %v", pool.Name, err)
			continue
		}
		sheet.Pass(place)
	}
}

// counted wants as many machines of a role as it allows.
func counted(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		counts := map[api.Name]int{}
		for _, pool := range cluster.Pools {
			if pool.Role.Spec.PerCluster != api.PerClusterOne {
				continue
			}
			counts[pool.Object.Spec.Role] += facts.Count(pool.Machines)
			if counts[pool.Object.Spec.Role] > 1 {
				sheet.Fail(pool.At("spec.role"), "cluster %s has %d machines of role %s, which allows one", cluster.Title(), counts[pool.Object.Spec.Role], pool.Object.Spec.Role)
				continue
			}
			sheet.Pass(pool.At("spec.role"))
		}
		strays(cluster, sheet)
		if found := gatewaysOf(cluster); cluster.Object == nil && len(found) > 0 {
			if len(found) > 1 && cluster.Notes[facts.NoteGateways] != "ha" {
				sheet.Fail(found[1].At(""), "cluster %s has %d gateways, and nobody says that they stand in for each other", cluster.Title(), len(found))
				continue
			}
			sheet.Pass(found[0].At(""))
		}
	}
}

// strays wants the gateways of a declared cluster that runs to be declared.
func strays(cluster *facts.Cluster, sheet *rule.Sheet) {
	for _, machine := range gatewaysOf(cluster) {
		if cluster.Object != nil && machine.Running != nil && machine.Pool == nil {
			sheet.Fail(machine.At(""), "%s is a gateway of cluster %s, and no pool that is declared has it", machine.Name, cluster.Title())
		}
	}
}

// based wants the gateway's image to be the compute image with something added.
func based(all *facts.Facts, sheet *rule.Sheet) {
	sets := map[string]*facts.SchematicFact{}
	for _, schematic := range all.Schematics {
		sets[schematic.RoleName()] = schematic
	}
	compute, gateway := sets["compute"], sets["gateway"]
	if compute == nil || gateway == nil {
		return
	}
	var missing []string
	for _, name := range compute.Extensions() {
		if !slices.Contains(gateway.Extensions(), name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		sheet.Fail(gateway.Place, "the gateway's image lacks what the compute image has: %s", strings.Join(missing, ", "))
		return
	}
	sheet.Pass(gateway.Place)
}

// boots wants the machines of every role to end their boot.
func boots(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		prediction, unknown := machine.Boot()
		switch {
		case unknown != "":
			sheet.Unknown(machine.At(""), "whether the boot of %s ends cannot be said: %s", machine.Name, unknown)
		case prediction.Completes():
			sheet.Pass(machine.At(""))
		case len(prediction.Blocked()) == 0:
			sheet.Unknown(machine.At(""), "whether the boot of %s ends depends on what is not known of it", machine.Name)
		default:
			var names []string
			for _, service := range prediction.Blocked() {
				names = append(names, service.Name)
			}
			sheet.Fail(machine.At(""), "the boot of %s never ends: it waits for %s", machine.Name, strings.Join(names, ", "))
		}
	}
}

// equipped wants machines to have the hardware of their role.
func equipped(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		wanted := pool.Role.Spec.Hardware
		if wanted == nil {
			continue
		}
		own, known := graphics(pool)
		switch place := pool.At("spec.role"); {
		case len(wanted.Architectures) > 0 && pool.Object.Spec.Architecture != "" && !slices.Contains(wanted.Architectures, pool.Object.Spec.Architecture):
			sheet.Fail(place, "pool %s is %s, and role %s works on %v", pool.Object.Name, pool.Object.Spec.Architecture, pool.Object.Spec.Role, wanted.Architectures)
		case wanted.GPU == "":
			sheet.Pass(place)
		case !known:
			sheet.Unknown(place, "whether the machines of pool %s have graphics of %s is not known: note it as check.minos.dev/graphics", pool.Object.Name, wanted.GPU)
		case !strings.Contains(strings.ToLower(own), strings.ToLower(string(wanted.GPU))):
			sheet.Fail(place, "role %s needs graphics of %s, and the machines of pool %s have %s", pool.Object.Spec.Role, wanted.GPU, pool.Object.Name, own)
		default:
			sheet.Pass(place)
		}
	}
}

// graphics is which graphics processor the machines of a pool have, and whether that is known.
func graphics(pool *facts.Pool) (string, bool) {
	if note := pool.Notes[facts.NoteGraphics]; note != "" {
		return note, true
	}
	switch machine := pool.Object.Spec.Machine; {
	case machine.Sim != nil:
		if machine.Sim.GPU == "" {
			return "none", true
		}
		return string(machine.Sim.GPU), true
	case machine.KubeVirt != nil:
		if len(machine.KubeVirt.GPUs) == 0 {
			return "none", true
		}
		return machine.KubeVirt.GPUs[0].DeviceName, true
	}
	return "", false
}
