// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"fmt"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// counted judges how many control planes a cluster has. One that is hosted has none; of one that is not declared, a single
// configuration may be for several machines.
func counted(all *facts.Facts, sheet *rule.Sheet, judge func(*facts.Cluster, int)) {
	for _, cluster := range all.Clusters {
		planes := cluster.ControlPlanes()
		switch {
		case !cluster.OnTalos():
		case cluster.Object == nil && len(planes) == 0: // configurations of workers alone say nothing about it
		case cluster.Object == nil && len(planes) == 1 && len(planes[0].Addresses()) == 0 && !named(planes[0]):
			sheet.Unknown(cluster.At(""), "%s may be the configuration of one control plane or of several", planes[0].File)
		case len(planes) == 0:
			sheet.Fail(cluster.At("spec.controlPlane"), "cluster %s runs its control plane on Talos machines and has no pool of a role for them", cluster.Title())
		default:
			judge(cluster, facts.Count(planes))
		}
	}
}

// named says whether a configuration is for one machine, because it has that machine's name.
func named(machine *facts.Machine) bool {
	return machine.Config != nil && machine.Config.NetworkHostnameConfig() != nil && machine.Config.NetworkHostnameConfig().Hostname() != ""
}

// planes says how many control planes.
func planes(count int) string {
	if count == 1 {
		return "1 control plane"
	}
	return fmt.Sprintf("%d control planes", count)
}

// at is where the number of control planes of a cluster is decided.
func at(cluster *facts.Cluster) facts.Place {
	for _, machine := range cluster.ControlPlanes() {
		if machine.Pool != nil {
			return machine.Pool.At("spec.replicas")
		}
	}
	return cluster.At("spec.controlPlane")
}

// odd wants an odd number.
func odd(all *facts.Facts, sheet *rule.Sheet) {
	counted(all, sheet, func(cluster *facts.Cluster, count int) {
		if count%2 == 0 {
			sheet.Fail(at(cluster), "cluster %s has %s: one less survives as many losses", cluster.Title(), planes(count))
			return
		}
		sheet.Pass(at(cluster))
	})
}

// three wants at least three.
func three(all *facts.Facts, sheet *rule.Sheet) {
	counted(all, sheet, func(cluster *facts.Cluster, count int) {
		if count < 3 {
			sheet.Fail(at(cluster), "cluster %s has %s, and does not survive the loss of one", cluster.Title(), planes(count))
			return
		}
		sheet.Pass(at(cluster))
	})
}

// five wants at most five.
func five(all *facts.Facts, sheet *rule.Sheet) {
	counted(all, sheet, func(cluster *facts.Cluster, count int) {
		if count > 5 {
			sheet.Fail(at(cluster), "cluster %s has %s", cluster.Title(), planes(count))
			return
		}
		sheet.Pass(at(cluster))
	})
}

// large is how many workers are reason enough for five control planes.
const large = 10

// reason wants five to have one.
func reason(all *facts.Facts, sheet *rule.Sheet) {
	counted(all, sheet, func(cluster *facts.Cluster, count int) {
		workers := facts.Count(cluster.Workers())
		switch {
		case count < 5:
		case workers < large && cluster.Notes[facts.NoteSurviveTwo] == "":
			sheet.Fail(at(cluster), "cluster %s has %s for %d workers, and nobody noted why", cluster.Title(), planes(count), workers)
		default:
			sheet.Pass(at(cluster))
		}
	})
}

// spread wants three zones where zones are declared.
func spread(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		zones, count := map[string]bool{}, 0
		for _, machine := range cluster.ControlPlanes() {
			count += machine.Count
			if machine.Pool == nil {
				continue
			}
			if zone := machine.Pool.Location.Place().Zone; zone != "" {
				zones[zone] = true
			}
		}
		switch {
		case len(zones) == 0 || count < 3:
		case len(zones) < 3:
			sheet.Fail(at(cluster), "the control planes of cluster %s are in %d of three zones", cluster.Title(), len(zones))
		default:
			sheet.Pass(at(cluster))
		}
	}
}
