// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"fmt"
	"net/netip"

	"minos.dev/minos/adopt/patch"
)

// documents for network interfaces. Since Talos 1.12 talhelper writes an interface as documents, one a concern, all of one
// concern before the next.

// A device is one interface as talconfig has it, with the name that the documents call it by.
type device struct {
	fields patch.Document
	name   string
}

// devices names the interfaces. One that is chosen by a selector gets an alias for a name.
func devices(interfaces []map[string]any) []device {
	taken := map[string]bool{}
	for _, fields := range interfaces {
		taken[plainText(fields["interface"])] = true
	}
	var all []device
	next := map[string]int{}
	for _, fields := range interfaces {
		name := plainText(fields["interface"])
		if name == "" && fields["deviceSelector"] != nil {
			kind := aliasKind(fields)
			for name = ""; name == "" || taken[name]; next[kind]++ {
				name = fmt.Sprintf("%s%d", kind, next[kind])
			}
			taken[name] = true
		}
		all = append(all, device{fields, name})
	}
	return all
}

// aliasKind is what the aliases of an interface of its kind begin with.
func aliasKind(fields patch.Document) string {
	switch {
	case fields["bond"] != nil:
		return "bond"
	case fields["bridge"] != nil:
		return "br"
	case fields["wireguard"] != nil:
		return "wg"
	}
	return "ethSel"
}

// networkDocuments are the documents for all interfaces of a node.
func networkDocuments(interfaces []map[string]any) ([]patch.Document, error) {
	all := devices(interfaces)
	var documents []patch.Document
	for _, make := range []func(device) ([]patch.Document, error){
		aliases, memberAliases, bonds, dhcp, vips, links, vlans, wireguards, bridges,
	} {
		for _, one := range all {
			found, err := make(one)
			if err != nil {
				return nil, fmt.Errorf("interface %q: %w", one.name, err)
			}
			documents = append(documents, found...)
		}
	}
	return documents, nil
}

// document is a document of a kind.
func document(kind, name string, fields patch.Document) patch.Document {
	whole := patch.Document{"apiVersion": "v1alpha1", "kind": kind}
	if name != "" {
		whole["name"] = name
	}
	for key, value := range fields {
		whole[key] = value
	}
	return whole
}

func dhcp(d device) ([]patch.Document, error) {
	return dhcpOf(d.name, d.fields), nil
}

// dhcpOf are the documents for DHCP, which is IPv4 unless something else is said.
func dhcpOf(name string, fields patch.Document) []patch.Document {
	if fields["dhcp"] != true {
		return nil
	}
	options, _ := fields["dhcpOptions"].(patch.Document)
	settings := patch.Document{}
	if metric := options["routeMetric"]; said(metric) {
		settings["routeMetric"] = metric
	}
	var all []patch.Document
	if options["ipv4"] != false {
		all = append(all, document("DHCPv4Config", name, settings))
	}
	if options["ipv6"] == true {
		all = append(all, document("DHCPv6Config", name, settings))
	}
	return all
}

func vips(d device) ([]patch.Document, error) {
	return vipOf(d.name, d.fields["vip"]), nil
}

func vipOf(link string, vip any) []patch.Document {
	fields, _ := vip.(patch.Document)
	if plainText(fields["ip"]) == "" {
		return nil
	}
	return []patch.Document{document("Layer2VIPConfig", plainText(fields["ip"]), patch.Document{"link": link})}
}

// links are plain interfaces with something to say.
func links(d device) ([]patch.Document, error) {
	if d.fields["bond"] != nil || d.fields["bridge"] != nil || d.fields["wireguard"] != nil {
		return nil, nil
	}
	fields, err := common(d.fields)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	return []patch.Document{document("LinkConfig", d.name, fields)}, nil
}

func vlans(d device) ([]patch.Document, error) {
	var all []patch.Document
	for _, item := range list(d.fields["vlans"]) {
		vlan, _ := item.(patch.Document)
		if !said(vlan["vlanId"]) {
			continue
		}
		name := fmt.Sprintf("%s.%v", d.name, vlan["vlanId"])
		fields, err := common(vlan)
		if err != nil {
			return nil, err
		}
		fields["vlanID"], fields["parent"] = vlan["vlanId"], d.name
		all = append(all, document("VLANConfig", name, fields))
		all = append(all, dhcpOf(name, vlan)...)
		all = append(all, vipOf(name, vlan["vip"])...)
	}
	return all, nil
}

// common is what every kind of link has: addresses, routes and the MTU.
func common(old patch.Document) (patch.Document, error) {
	fields := patch.Document{}
	var addresses []any
	for _, item := range list(old["addresses"]) {
		address, err := prefixOf(plainText(item))
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, patch.Document{"address": address})
	}
	setIf(fields, "addresses", addresses)
	var routes []any
	for _, item := range list(old["routes"]) {
		one, _ := item.(patch.Document)
		route, err := routeOf(one)
		if err != nil {
			return nil, err
		}
		routes = append(routes, route)
	}
	setIf(fields, "routes", routes)
	if mtu := old["mtu"]; said(mtu) {
		fields["mtu"] = mtu
	}
	return fields, nil
}

// prefixOf is an address with its prefix; one without is a single host.
func prefixOf(text string) (string, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.String(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return "", fmt.Errorf("%q is not an address", text)
	}
	return netip.PrefixFrom(address, address.BitLen()).String(), nil
}

// routeOf is a route. The default route needs no destination: the gateway says of which kind it is.
func routeOf(old patch.Document) (patch.Document, error) {
	route := patch.Document{}
	if network := plainText(old["network"]); network != "" {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return nil, fmt.Errorf("the route to %q: it is not a network", network)
		}
		if prefix.Bits() > 0 || !prefix.Addr().IsUnspecified() {
			route["destination"] = prefix.String()
		}
	}
	for _, name := range []string{"gateway", "source"} {
		value := plainText(old[name])
		if value == "" {
			continue
		}
		address, err := netip.ParseAddr(value)
		if err != nil {
			return nil, fmt.Errorf("the %s %q of a route is not an address", name, value)
		}
		route[name] = address.String()
	}
	for _, name := range []string{"metric", "mtu"} {
		if value := old[name]; said(value) {
			route[name] = value
		}
	}
	return route, nil
}

// said says whether a value is there and not zero.
func said(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case string:
		return value != ""
	case int:
		return value > 0
	case []any:
		return len(value) > 0
	}
	return true
}

func setIf(fields patch.Document, key string, values []any) {
	if len(values) > 0 {
		fields[key] = values
	}
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

// plainText is a value as text; nothing for what is no scalar.
func plainText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int, float64, bool:
		return fmt.Sprint(value)
	}
	return ""
}
