// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/nethelpers"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A port is one that the cluster needs.
type port struct {
	first, last uint16
	protocol    nethelpers.Protocol
	what        string
	// inner says that only machines of the cluster use it.
	inner bool
}

// portsOf are the ports that others have to reach on a machine.
func portsOf(machine *facts.Machine) []port {
	ports := []port{
		{50000, 50000, nethelpers.ProtocolTCP, "the Talos API", false},
		{10250, 10250, nethelpers.ProtocolTCP, "the kubelet", true},
	}
	if machine.ControlPlane {
		ports = append(ports,
			port{6443, 6443, nethelpers.ProtocolTCP, "the Kubernetes API", false}, port{50001, 50001, nethelpers.ProtocolTCP, "trustd, by which machines join", true},
			port{2379, 2380, nethelpers.ProtocolTCP, "etcd", true},
		)
	}
	cluster := machine.Cluster
	switch {
	case cluster.Decided(api.DecisionCNI, "cilium"):
		ports = append(ports, port{8472, 8472, nethelpers.ProtocolUDP, "the network of pods", true})
	case machine.Config.K8sFlannelCNIConfig() != nil || cluster.Decided(api.DecisionCNI, "flannel", "calico"):
		ports = append(ports, port{4789, 4789, nethelpers.ProtocolUDP, "the network of pods", true})
	}
	return ports
}

// guarded wants a firewall on machines with public addresses.
func guarded(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		public, known := isPublic(machine)
		rules := machine.Config.NetworkRules()
		place := machine.DocumentAt("NetworkDefaultActionConfig", "", "ingress")
		switch blocks := rules.DefaultAction() == nethelpers.DefaultActionBlock; {
		case blocks:
			judgePorts(machine, sheet, place)
		case !known:
			sheet.Unknown(place, "%s has no firewall, and whether its address is public is not known", machine.Name)
		case public:
			sheet.Fail(place, "%s has a public address, and lets in everybody", machine.Name)
		}
	})
}

// judgePorts wants a firewall to let in what the cluster needs, and not everybody to what only the cluster needs.
func judgePorts(machine *facts.Machine, sheet *rule.Sheet, place facts.Place) {
	fine := true
	for _, port := range portsOf(machine) {
		open, everybody := opened(machine, port)
		switch {
		case !open:
			fine = false
			sheet.FailAs(rule.Error, place, "the firewall of %s lets nobody to %s (%s)", machine.Name, port, port.what)
		case everybody && port.inner:
			fine = false
			sheet.Fail(place, "the firewall of %s lets everybody to %s (%s), which is for the cluster alone", machine.Name, port, port.what)
		}
	}
	if fine {
		sheet.Pass(place)
	}
}

// String is a port as people write it.
func (p port) String() string {
	name := fmt.Sprintf("port %d/%s", p.first, strings.ToLower(p.protocol.String()))
	if p.first != p.last {
		name = fmt.Sprintf("ports %d-%d/%s", p.first, p.last, strings.ToLower(p.protocol.String()))
	}
	return name
}

// opened says whether a firewall lets anybody to a port, and whether everybody.
func opened(machine *facts.Machine, wanted port) (open, everybody bool) {
	for _, one := range machine.Config.NetworkRules().Rules() {
		if one.Protocol() != wanted.protocol {
			continue
		}
		for _, ports := range one.PortRanges() {
			if ports[0] > wanted.first || ports[1] < wanted.last {
				continue
			}
			open = true
			for _, subnet := range one.Subnets() {
				everybody = everybody || subnet.Bits() == 0
			}
		}
	}
	return open, everybody
}

// isPublic says whether a machine has an address that everybody can reach, and whether its addresses are known at all.
func isPublic(machine *facts.Machine) (public, known bool) {
	addresses := machine.Addresses()
	if machine.Host != nil {
		if own, err := netip.ParseAddr(string(machine.Host.Address)); err == nil {
			addresses = append(addresses, netip.PrefixFrom(own, own.BitLen()))
		}
	}
	for _, address := range addresses {
		if own := address.Addr(); own.IsGlobalUnicast() && !own.IsPrivate() && !shared100.Contains(own) {
			return true, true
		}
	}
	return false, len(addresses) > 0
}

// shared100 are the addresses that providers and meshes use inside.
var shared100 = netip.MustParsePrefix("100.64.0.0/10")
