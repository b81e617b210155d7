// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// hostDNS wants a DNS server where names are sent to.
func hostDNS(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		dns := machine.Config.NetworkHostDNSConfig()
		switch {
		case dns == nil || !dns.ForwardKubeDNSToHost():
		case dns.HostDNSEnabled():
			sheet.Pass(machine.At("machine.features.hostDNS"))
		default:
			sheet.Fail(machine.At("machine.features.hostDNS"), "%s sends the names of pods to its own DNS, which it does not run", machine.Name)
		}
	}
}

// prism wants KubePrism.
func prism(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		if machine.Config.K8sKubePrismConfig() != nil {
			sheet.Pass(machine.At("machine.features.kubePrism"))
			continue
		}
		sheet.Fail(machine.At("machine.features.kubePrism"), "%s has no KubePrism: it reaches the API server by its usual address alone", machine.Name)
	}
}

// discovered wants machines to find each other, or not to need it.
func discovered(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		span := machine.Config.NetworkKubeSpanConfig()
		switch {
		case finds(machine):
			sheet.Pass(machine.At("cluster.discovery"))
		case span != nil && span.Enabled():
			sheet.Fail(machine.At("cluster.discovery"), "%s has KubeSpan on and discovery off: KubeSpan would know nobody", machine.Name)
		case machine.Cluster == nil || len(machine.Cluster.ControlPlanes()) < 2 || shared(machine):
			sheet.Pass(machine.At("cluster.discovery"))
		default:
			sheet.Fail(machine.At("cluster.discovery"), "%s has discovery off, and its endpoint is the address of one machine: KubePrism has only that", machine.Name)
		}
	}
}

// finds says whether discovery is on, by the old field or by a document.
func finds(machine *facts.Machine) bool {
	if len(machine.Config.DiscoveryServiceConfigs()) > 0 {
		return true
	}
	cluster := machine.Config.Cluster()
	return cluster != nil && cluster.Discovery() != nil && cluster.Discovery().Enabled()
}

// shared says whether the endpoint of a machine is not the address of one machine of its cluster.
func shared(machine *facts.Machine) bool {
	cluster := machine.Config.K8sClusterConfig()
	if cluster == nil || cluster.ClusterEndpoint() == nil {
		return false
	}
	host := cluster.ClusterEndpoint().Hostname()
	return !slices.ContainsFunc(machine.Cluster.ControlPlanes(), func(other *facts.Machine) bool { return other.Owns(host) })
}
