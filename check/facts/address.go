// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"net/netip"
	"slices"
)

// Addresses are the addresses that a machine has by its configuration, with their networks; virtual ones and those that it gets
// from elsewhere are not among them.
func (m *Machine) Addresses() []netip.Prefix {
	if m.Config == nil {
		return nil
	}
	var found []netip.Prefix
	for _, link := range m.Config.NetworkCommonLinkConfigs() {
		for _, address := range link.Addresses() {
			found = append(found, address.Address())
		}
	}
	if own := m.Config.Machine(); own != nil && own.Network() != nil {
		for _, device := range own.Network().Devices() {
			found = append(found, prefixes(device.Addresses())...)
			for _, vlan := range device.Vlans() {
				found = append(found, prefixes(vlan.Addresses())...)
			}
		}
	}
	return found
}

// Owns says whether a host is an address of the machine's own: as declared, or by its configuration.
func (m *Machine) Owns(host string) bool {
	return m.Host != nil && string(m.Host.Address) == host ||
		slices.ContainsFunc(m.Addresses(), func(prefix netip.Prefix) bool { return prefix.Addr().String() == host })
}

// VirtualIPs are the addresses that control planes share by passing them on.
func (m *Machine) VirtualIPs() []netip.Addr {
	if m.Config == nil {
		return nil
	}
	var found []netip.Addr
	for _, virtual := range m.Config.NetworkVirtualIPConfigs() {
		found = append(found, virtual.VIP())
	}
	if own := m.Config.Machine(); own != nil && own.Network() != nil {
		for _, device := range own.Network().Devices() {
			if device.VIPConfig() == nil {
				continue
			}
			if address, err := netip.ParseAddr(device.VIPConfig().IP()); err == nil {
				found = append(found, address)
			}
		}
	}
	return found
}

// prefixes reads addresses with their networks. What is none is left out: Talos's validation says so.
func prefixes(texts []string) []netip.Prefix {
	var found []netip.Prefix
	for _, text := range texts {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			found = append(found, prefix)
		}
	}
	return found
}
