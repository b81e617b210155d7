// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"net/netip"
	"strconv"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A span is a network, and what it is for.
type span struct {
	what   string
	prefix netip.Prefix
}

// inside are the networks in a machine's cluster.
func inside(machine *facts.Machine) []span {
	var found []span
	if network := machine.Config.K8sNetworkConfig(); network != nil {
		for _, prefix := range network.PodCIDRs() {
			found = append(found, span{"the pod network", prefix})
		}
		for _, prefix := range network.ServiceCIDRs() {
			found = append(found, span{"the service network", prefix})
		}
	}
	return found
}

// around are the networks and addresses around a machine: its own, virtual ones, and the VPN of an extension.
func around(machine *facts.Machine) []span {
	var found []span
	for _, prefix := range machine.Addresses() {
		found = append(found, span{"the network of " + machine.Name, prefix.Masked()})
	}
	if machine.Host != nil {
		if address, err := netip.ParseAddr(string(machine.Host.Address)); err == nil {
			found = append(found, span{"the address of " + machine.Name, netip.PrefixFrom(address, address.BitLen())})
		}
	}
	for _, address := range machine.VirtualIPs() {
		found = append(found, span{"the virtual IP", netip.PrefixFrom(address, address.BitLen())})
	}
	if machine.HasExtension("tailscale") {
		found = append(found, span{"the network of Tailscale", netip.MustParsePrefix("100.64.0.0/10")})
	}
	return append(found, noted(machine)...)
}

// noted is the range of a mesh, as people note it.
func noted(machine *facts.Machine) []span {
	prefix, err := netip.ParsePrefix(machine.Notes[facts.NoteMesh])
	if err != nil {
		return nil
	}
	return []span{{"the range of the mesh", prefix}}
}

// disjoint wants every address to mean one thing.
func disjoint(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		networks := inside(machine)
		fine := true
		for at, one := range networks {
			for _, other := range append(networks[at+1:len(networks):len(networks)], around(machine)...) {
				if one.prefix.Overlaps(other.prefix) {
					fine = false
					sheet.Fail(machine.At("cluster.network"), "%s: %s %s overlaps %s %s", machine.Name, one.what, one.prefix, other.what, other.prefix)
				}
			}
		}
		if fine && len(networks) > 0 {
			sheet.Pass(machine.At("cluster.network"))
		}
	}
}

// several says why a machine has more than one network; empty if it has one, or gets its addresses from elsewhere.
func several(machine *facts.Machine) string {
	for _, vpn := range []string{"tailscale", "netbird", "nebula", "zerotier", "newt"} {
		if machine.HasExtension(vpn) {
			return "the extension " + vpn
		}
	}
	networks := map[netip.Prefix]bool{}
	for _, prefix := range machine.Addresses() {
		networks[prefix.Masked()] = true
	}
	families := map[bool]int{}
	for prefix := range networks {
		families[prefix.Addr().Is4()]++
	}
	if families[true] > 1 || families[false] > 1 {
		return fmt.Sprintf("%d networks", len(networks))
	}
	return ""
}

// nodeAddress wants a machine with several networks to say which is its Node's.
func nodeAddress(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		why := several(machine)
		if why == "" {
			continue
		}
		var subnets []string
		if node := machine.Config.K8sNodeConfig(); node != nil && node.NodeIP() != nil {
			subnets = node.NodeIP().ValidSubnets()
		}
		place := machine.At("machine.kubelet.nodeIP.validSubnets")
		switch matching := matches(machine, subnets); {
		case len(subnets) == 0:
			sheet.Fail(place, "%s has %s and does not say which address is its Node's", machine.Name, why)
		case len(machine.Addresses()) > 0 && matching != 1:
			sheet.Fail(place, "%s: nodeIP.validSubnets matches %d of its addresses, and must match exactly one of a family", machine.Name, matching)
		default:
			sheet.Pass(place)
		}
	}
}

// matches is how many of a machine's addresses of its first family some networks hold.
func matches(machine *facts.Machine, subnets []string) int {
	count := map[bool]int{}
	for _, address := range machine.Addresses() {
		for _, text := range subnets {
			if subnet, err := netip.ParsePrefix(text); err == nil && subnet.Contains(address.Addr()) {
				count[address.Addr().Is4()]++
				break
			}
		}
	}
	return max(count[true], count[false])
}

// etcdAddress wants a control plane with several networks to say which is etcd's.
func etcdAddress(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		why := several(machine)
		cluster := machine.Config.Cluster()
		if !machine.ControlPlane || why == "" || cluster == nil {
			continue
		}
		if etcd := cluster.Etcd(); etcd != nil && len(etcd.AdvertisedSubnets()) > 0 {
			sheet.Pass(machine.At("cluster.etcd.advertisedSubnets"))
			continue
		}
		sheet.Fail(machine.At("cluster.etcd"), "%s has %s and does not say by which address members of etcd reach it", machine.Name, why)
	}
}

// usual is the service network that Talos chooses when nobody does.
var usual = netip.MustParsePrefix("10.96.0.0/12")

// mesh wants the range of a mesh to keep clear of the usual service network.
func mesh(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		for _, reach := range noted(machine) {
			defaults := false
			for _, network := range inside(machine) {
				defaults = defaults || network.what == "the service network" && usual.Overlaps(network.prefix)
			}
			if defaults && usual.Overlaps(reach.prefix) {
				sheet.Fail(machine.At("cluster.network.serviceSubnets"), "%s: the mesh uses %s, which lies in the default service network %s", machine.Name, reach.prefix, usual)
				continue
			}
			sheet.Pass(machine.At("cluster.network.serviceSubnets"))
		}
	}
}

// families wants address families in the same order everywhere.
func families(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		network := machine.Config.K8sNetworkConfig()
		if network == nil || len(network.PodCIDRs()) < 2 && len(network.ServiceCIDRs()) < 2 {
			continue
		}
		pods, services := order(network.PodCIDRs()), order(network.ServiceCIDRs())
		if pods != services {
			sheet.Fail(machine.At("cluster.network"), "%s: pods have %s and services %s", machine.Name, pods, services)
			continue
		}
		sheet.Pass(machine.At("cluster.network"))
	}
}

// order is the families of networks in words.
func order(networks []netip.Prefix) string {
	text := ""
	for at, network := range networks {
		if at > 0 {
			text += " then "
		}
		text += map[bool]string{true: "IPv4", false: "IPv6"}[network.Addr().Is4()]
	}
	return text
}

// mostPods is how many pods a kubelet runs when nobody says.
const mostPods = 110

// roomy wants enough pieces of the pod network, and enough addresses in each.
func roomy(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		wanted := facts.Count(cluster.Machines)
		for _, machine := range cluster.Machines {
			if machine.Config == nil || machine.Config.K8sNetworkConfig() == nil || len(machine.Config.K8sNetworkConfig().PodCIDRs()) == 0 {
				continue
			}
			pods := machine.Config.K8sNetworkConfig().PodCIDRs()[0]
			piece := pieceOf(machine, pods)
			switch pieces := 1 << min(30, max(0, piece-pods.Bits())); {
			case pieces < wanted:
				sheet.Fail(machine.At("cluster.network.podSubnets"), "the pod network %s has %d pieces of /%d, and cluster %s may have %d machines", pods, pieces, piece, cluster.Title(), wanted)
			case 1<<min(30, pods.Addr().BitLen()-piece) < podsOf(machine):
				sheet.Fail(machine.At("cluster.network.podSubnets"), "%s may run %d pods, and its piece of the pod network is a /%d", machine.Name, podsOf(machine), piece)
			default:
				sheet.Pass(machine.At("cluster.network.podSubnets"))
			}
		}
	}
}

// pieceOf is how large the piece of a machine is.
func pieceOf(machine *facts.Machine, pods netip.Prefix) int {
	own := machine.Config.K8sNetworkConfig()
	size, usual := own.NodeCIDRMaskSizeIPv4(), 24
	if pods.Addr().Is6() {
		size, usual = own.NodeCIDRMaskSizeIPv6(), 64
	}
	if size == 0 {
		return usual
	}
	return size
}

// podsOf is how many pods a machine may run.
func podsOf(machine *facts.Machine) int {
	if kubelet := machine.Config.K8sKubeletConfig(); kubelet != nil {
		if count, err := strconv.Atoi(facts.Text(kubelet.ExtraConfig()["maxPods"])); err == nil {
			return count
		}
	}
	return mostPods
}
