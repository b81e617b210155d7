// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// address is where a machine reaches the API server; nil if its configuration does not say.
func address(machine *facts.Machine) *url.URL {
	if machine.Config == nil || machine.Config.K8sClusterConfig() == nil {
		return nil
	}
	return machine.Config.K8sClusterConfig().ClusterEndpoint()
}

// notOne wants an endpoint that is not one machine.
func notOne(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		planes := cluster.ControlPlanes()
		if facts.Count(planes) < 2 {
			continue
		}
		for _, machine := range planes[:1] {
			reached := address(machine)
			if reached == nil {
				continue
			}
			one := slices.IndexFunc(planes, func(other *facts.Machine) bool { return other.Owns(reached.Hostname()) })
			if one >= 0 {
				sheet.Fail(cluster.At("spec.endpoint"), "the endpoint %s of cluster %s is the address of %s alone", reached.Hostname(), cluster.Title(), planes[one].Name)
				continue
			}
			sheet.Pass(cluster.At("spec.endpoint"))
		}
	}
}

// direct wants the endpoint to be served, and to be reached without a proxy. That the certificate holds its name is Talos's own
// doing: it adds the host of the endpoint to what certSANs say.
func direct(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		reached := address(machine)
		switch {
		case reached == nil:
		case reached.Scheme != "https":
			sheet.Fail(machine.At("cluster.controlPlane.endpoint"), "the endpoint of %s is %s, and must begin with https", machine.Name, reached)
		case proxied(machine, reached.Hostname()):
			sheet.Fail(machine.At("machine.env"), "%s goes through a proxy to its endpoint %s", machine.Name, reached.Hostname())
		default:
			sheet.Pass(machine.At("cluster.controlPlane.endpoint"))
		}
	}
}

// proxied says whether a machine goes through an HTTP proxy to a host: there is one, and the host is not among the exceptions.
func proxied(machine *facts.Machine, host string) bool {
	environment := map[string]string{}
	if own := machine.Config.Machine(); own != nil {
		for name, value := range own.Env() {
			environment[strings.ToLower(name)] = value
		}
	}
	if own := machine.Config.Environment(); own != nil {
		for name, value := range own.Variables() {
			environment[strings.ToLower(name)] = value
		}
	}
	return environment["https_proxy"] != "" && !slices.ContainsFunc(strings.Split(environment["no_proxy"], ","), func(exception string) bool {
		prefix, err := netip.ParsePrefix(exception)
		address, none := netip.ParseAddr(host)
		return exception == host || exception != "" && strings.HasSuffix(host, exception) || err == nil && none == nil && prefix.Contains(address)
	})
}

// toMachines wants talosconfigs to lead to machines.
func toMachines(all *facts.Facts, sheet *rule.Sheet) {
	virtual := map[string]bool{}
	for _, machine := range all.Machines {
		for _, address := range machine.VirtualIPs() {
			virtual[address.String()] = true
		}
	}
	for _, access := range all.Accesses {
		for name := range access.Map("contexts") {
			path := fmt.Sprintf("contexts[%s].endpoints", name)
			endpoints := access.List(path)
			if len(endpoints) == 0 {
				continue
			}
			if at := slices.IndexFunc(endpoints, func(endpoint any) bool { return virtual[facts.Text(endpoint)] }); at >= 0 {
				sheet.Fail(all.InDocument(access, path), "context %s leads to the virtual IP %s", name, facts.Text(endpoints[at]))
				continue
			}
			sheet.Pass(all.InDocument(access, path))
		}
	}
}

// shared wants the virtual IP to be one that every control plane can take over.
func shared(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		first := ""
		for _, machine := range cluster.ControlPlanes() {
			text := virtuals(machine)
			if first == "" {
				first = text
			}
			if text != first {
				sheet.Fail(machine.At("machine.network.interfaces"), "%s has the virtual IP %q, and another control plane has %s", machine.Name, text, first)
				continue
			}
			judgeVirtual(cluster, machine, sheet)
		}
		for _, machine := range cluster.Workers() {
			if text := virtuals(machine); text != "" {
				sheet.Fail(machine.At("machine.network.interfaces"), "%s is a worker and has the virtual IP %s", machine.Name, text)
			}
		}
	}
}

// virtuals are the virtual IPs of a machine in words.
func virtuals(machine *facts.Machine) string {
	var texts []string
	for _, address := range machine.VirtualIPs() {
		texts = append(texts, address.String())
	}
	return strings.Join(texts, ", ")
}

// judgeVirtual judges the virtual IP of one control plane.
func judgeVirtual(cluster *facts.Cluster, machine *facts.Machine, sheet *rule.Sheet) {
	place := machine.At("machine.network.interfaces")
	for _, address := range machine.VirtualIPs() {
		taken := slices.IndexFunc(cluster.Machines, func(other *facts.Machine) bool { return other.Owns(address.String()) })
		switch networks := machine.Addresses(); {
		case taken >= 0:
			sheet.Fail(place, "the virtual IP %s is the address of %s", address, cluster.Machines[taken].Name)
		case len(networks) > 0 && !slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(address) }):
			sheet.Fail(place, "%s is in no network with the virtual IP %s", machine.Name, address)
		default:
			sheet.Pass(place)
		}
	}
}

// excluded wants the virtual IP not to be taken for an address of a machine.
func excluded(all *facts.Facts, sheet *rule.Sheet) {
	each(all, func(_ *facts.Cluster, machine *facts.Machine) {
		lists := map[string][]string{}
		if node := machine.Config.K8sNodeConfig(); node != nil && node.NodeIP() != nil {
			lists["machine.kubelet.nodeIP.validSubnets"] = node.NodeIP().ValidSubnets()
		}
		if cluster := machine.Config.Cluster(); cluster != nil && cluster.Etcd() != nil {
			lists["cluster.etcd.advertisedSubnets"] = cluster.Etcd().AdvertisedSubnets()
		}
		for path, subnets := range lists {
			for _, address := range machine.VirtualIPs() {
				switch {
				case len(subnets) == 0:
				case matches(subnets, address):
					sheet.Fail(machine.At(path), "%s: %s matches the virtual IP %s", machine.Name, path, address)
				default:
					sheet.Pass(machine.At(path))
				}
			}
		}
	})
}

// matches says whether networks, of which those with an exclamation mark are exceptions, hold an address.
func matches(subnets []string, address netip.Addr) bool {
	held := false
	for _, text := range subnets {
		text, except := strings.CutPrefix(text, "!")
		prefix, err := netip.ParsePrefix(text)
		if err != nil || !prefix.Contains(address) {
			continue
		}
		if except {
			return false
		}
		held = true
	}
	return held
}
