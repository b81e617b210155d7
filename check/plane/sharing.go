// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// taint keeps workloads off a control plane.
const taint = "node-role.kubernetes.io/control-plane"

// carries says whether workloads may run on a control plane.
func carries(machine *facts.Machine) bool {
	node := machine.Config.K8sNodeConfig()
	if node == nil {
		return true
	}
	_, kept := node.Taints()[taint]
	return !kept
}

// each judges the control planes of clusters whose configuration can be read.
func each(all *facts.Facts, judge func(*facts.Cluster, *facts.Machine)) {
	for _, cluster := range all.Clusters {
		for _, machine := range cluster.ControlPlanes() {
			if machine.Config != nil {
				judge(cluster, machine)
			}
		}
	}
}

// apart wants no workloads on control planes beside workers.
func apart(all *facts.Facts, sheet *rule.Sheet) {
	each(all, func(cluster *facts.Cluster, machine *facts.Machine) {
		switch {
		case facts.Count(cluster.Workers()) == 0:
		case carries(machine):
			sheet.Fail(machine.At("cluster.allowSchedulingOnControlPlanes"), "%s is a control plane and carries workloads, though cluster %s has workers", machine.Name, cluster.Title())
		default:
			sheet.Pass(machine.At("cluster.allowSchedulingOnControlPlanes"))
		}
	})
}

// together wants workloads on control planes where there are no workers.
func together(all *facts.Facts, sheet *rule.Sheet) {
	each(all, func(cluster *facts.Cluster, machine *facts.Machine) {
		switch {
		case facts.Count(cluster.Workers()) > 0:
		case carries(machine):
			sheet.Pass(machine.At("cluster.allowSchedulingOnControlPlanes"))
		default:
			sheet.Fail(machine.At("cluster.allowSchedulingOnControlPlanes"), "cluster %s has no workers, and %s carries no workloads", cluster.Title(), machine.Name)
		}
	})
}

// reserved wants a control plane that carries workloads to keep something for itself.
func reserved(all *facts.Facts, sheet *rule.Sheet) {
	each(all, func(_ *facts.Cluster, machine *facts.Machine) {
		if !carries(machine) {
			return
		}
		kubelet := machine.Config.K8sKubeletConfig()
		if kubelet != nil && (kubelet.ExtraConfig()["systemReserved"] != nil || len(kubelet.ExtraArgs()["system-reserved"]) > 0) {
			sheet.Pass(machine.At("machine.kubelet"))
			return
		}
		sheet.Fail(machine.At("machine.kubelet"), "%s carries workloads and reserves nothing for the control plane", machine.Name)
	})
}
