// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"fmt"
	"net/netip"
	"strings"

	"minos.dev/minos/adopt/patch"
)

// selectors are the fields of a device selector, in talhelper's order, each with the expression for it.
var selectors = []struct{ field, expression string }{
	{"hardwareAddr", `glob("%s", mac(link.hardware_addr))`},
	{"permanentAddr", `glob("%s", mac(link.permanent_addr))`},
	{"busPath", `glob("%s", link.bus_path)`},
	{"driver", `glob("%s", link.driver)`},
	{"pciID", `glob("%s", link.pciid)`},
}

// alias is the document that gives the device of a selector a name; nil if the selector says nothing.
func alias(name string, selector any) []patch.Document {
	fields, _ := selector.(patch.Document)
	var conditions []string
	for _, one := range selectors {
		if value := plainText(fields[one.field]); value != "" {
			conditions = append(conditions, fmt.Sprintf(one.expression, value))
		}
	}
	if physical, ok := fields["physical"].(bool); ok {
		conditions = append(conditions, map[bool]string{true: "link.type == 1", false: "link.type != 1"}[physical])
	}
	if len(conditions) == 0 {
		return nil
	}
	match := strings.Join(conditions, " && ")
	return []patch.Document{document("LinkAliasConfig", name, patch.Document{"selector": patch.Document{"match": match}})}
}

func aliases(d device) ([]patch.Document, error) {
	return alias(d.name, d.fields["deviceSelector"]), nil
}

// memberAliases name the members of a bond that are chosen by selectors.
func memberAliases(d device) ([]patch.Document, error) {
	var all []patch.Document
	bond, _ := d.fields["bond"].(patch.Document)
	for i, selector := range list(bond["deviceSelectors"]) {
		all = append(all, alias(memberName(d, i), selector)...)
	}
	return all, nil
}

func memberName(d device, i int) string { return fmt.Sprintf("%s-m%d", d.name, i) }

// bondFields are the settings of a bond, with the names that the document has for them. talhelper leaves out the rest.
var bondFields = map[string]string{
	"mode": "bondMode", "xmitHashPolicy": "xmitHashPolicy", "lacpRate": "lacpRate", "arpValidate": "arpValidate",
	"arpAllTargets": "arpAllTargets", "primaryReselect": "primaryReselect", "failOverMac": "failOverMac", "adSelect": "adSelect",
	"miimon": "miimon", "updelay": "updelay", "downdelay": "downdelay", "arpInterval": "arpInterval", "resendIgmp": "resendIGMP",
	"minLinks": "minLinks", "lpInterval": "lpInterval", "packetsPerSlave": "packetsPerSlave", "numPeerNotif": "numPeerNotif",
	"tlbDynamicLb": "tlbLogicalLb", "allSlavesActive": "allSlavesActive", "useCarrier": "useCarrier",
	"adActorSysPrio": "adActorSysPrio", "adUserPortKey": "adUserPortKey", "peerNotifyDelay": "peerNotifDelay",
	"arpIPTarget": "arpIpTargets",
}

func bonds(d device) ([]patch.Document, error) {
	bond, ok := d.fields["bond"].(patch.Document)
	if !ok {
		return nil, nil
	}
	fields, err := common(d.fields)
	if err != nil {
		return nil, err
	}
	links := append([]any{}, list(bond["interfaces"])...)
	for i := range list(bond["deviceSelectors"]) {
		links = append(links, memberName(d, i))
	}
	setIf(fields, "links", links)
	for old, name := range bondFields {
		if value := bond[old]; said(value) {
			fields[name] = value
		}
	}
	return []patch.Document{document("BondConfig", d.name, fields)}, nil
}

func wireguards(d device) ([]patch.Document, error) {
	wireguard, ok := d.fields["wireguard"].(patch.Document)
	if !ok {
		return nil, nil
	}
	fields, err := common(d.fields)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"privateKey", "listenPort", "firewallMark"} {
		if value := wireguard[name]; said(value) {
			fields[name] = value
		}
	}
	var peers []any
	for _, item := range list(wireguard["peers"]) {
		old, _ := item.(patch.Document)
		peers = append(peers, peer(old))
	}
	setIf(fields, "peers", peers)
	return []patch.Document{document("WireguardConfig", d.name, fields)}, nil
}

// peer is a peer of WireGuard. An endpoint that is not an address, and networks that are none, get lost in talhelper.
func peer(old patch.Document) patch.Document {
	fields := patch.Document{}
	for _, name := range []string{"publicKey", "persistentKeepaliveInterval"} {
		if value := old[name]; said(value) {
			fields[name] = value
		}
	}
	if endpoint, err := netip.ParseAddrPort(plainText(old["endpoint"])); err == nil {
		fields["endpoint"] = endpoint.String()
	}
	var allowed []any
	for _, item := range list(old["allowedIPs"]) {
		if prefix, err := netip.ParsePrefix(plainText(item)); err == nil {
			allowed = append(allowed, prefix.String())
		}
	}
	setIf(fields, "allowedIPs", allowed)
	return fields
}

func bridges(d device) ([]patch.Document, error) {
	bridge, ok := d.fields["bridge"].(patch.Document)
	if !ok {
		return nil, nil
	}
	fields, err := common(d.fields)
	if err != nil {
		return nil, err
	}
	setIf(fields, "links", list(bridge["interfaces"]))
	if enabled, ok := patch.Get(bridge, "stp", "enabled").(bool); ok {
		fields["stp"] = patch.Document{"enabled": enabled}
	}
	if patch.Get(bridge, "vlan", "vlanFiltering") == true {
		fields["vlan"] = patch.Document{"filtering": true}
	}
	return []patch.Document{document("BridgeConfig", d.name, fields)}, nil
}
