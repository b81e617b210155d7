// SPDX-License-Identifier: Apache-2.0

package roles

import (
	"net/netip"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// vpn is the extension of gateways, and the name of its service.
const vpn = "tailscale"

// variable is a setting of the VPN on a machine.
func variable(machine *facts.Machine, name string) string {
	environment, _ := machine.ServiceConfig(vpn)
	for _, line := range environment {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// isGateway says whether a machine is a gateway: by its role, which allows one or several that stand in for each other; or, without a
// declaration, because it advertises routes. Of a machine that runs more can be told.
func isGateway(machine *facts.Machine) bool {
	switch {
	case machine.Pool != nil:
		return machine.Pool.Gateways()
	case machine.Running != nil:
		role, _ := machine.Purpose()
		return role == "gateway"
	}
	return variable(machine, "TS_ROUTES") != ""
}

// unread says of a gateway that runs and whose configuration is not known that nothing can be said of its settings.
func unread(sheet *rule.Sheet, machine *facts.Machine) bool {
	if machine.Running == nil || machine.Config != nil {
		return false
	}
	sheet.Unknown(machine.At(""), "what gateway %s advertises is in its configuration, which is not known: reading it takes a talosconfig of an administrator", machine.Name)
	return true
}

// gatewaysOf are the gateways of a cluster.
func gatewaysOf(cluster *facts.Cluster) []*facts.Machine {
	return slices.DeleteFunc(slices.Clone(cluster.Machines), func(machine *facts.Machine) bool { return !isGateway(machine) })
}

// has says whether a machine has anything of the VPN.
func has(machine *facts.Machine) bool {
	_, configured := machine.ServiceConfig(vpn)
	return configured || machine.HasExtension(vpn)
}

// computeOnly wants nothing of the VPN in a cluster without a gateway.
func computeOnly(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if len(gatewaysOf(cluster)) > 0 {
			continue
		}
		for _, machine := range cluster.Machines {
			switch {
			case has(machine):
				sheet.Fail(machine.At(""), "cluster %s has no gateway, and %s has %s", cluster.Title(), machine.Name, vpn)
			case !machine.ExtensionsKnown:
				sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
			default:
				sheet.Pass(machine.At(""))
			}
		}
	}
}

// isolated wants what is for gateways on gateways only.
func isolated(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		for _, machine := range cluster.Machines {
			_, configured := machine.ServiceConfig(vpn)
			switch {
			case machine.Guessed():
				sheet.Unknown(machine.At(""), "the image of %s has %s, and whether it is meant to be a gateway is not known: no pool, no label and no configuration says so", machine.Name, vpn)
			case isGateway(machine):
			case machine.HasExtension(vpn):
				sheet.Fail(machine.At(""), "%s is no gateway, and its image has %s", machine.Name, vpn)
			case configured:
				sheet.Fail(machine.DocumentAt("ExtensionServiceConfig", vpn, "name"), "%s is no gateway, and has a configuration of %s", machine.Name, vpn)
			case !machine.ExtensionsKnown:
				sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
			default:
				sheet.Pass(machine.At(""))
			}
		}
	}
}

// advertised are the routes of a machine, and what of them is no network in its usual form.
func advertised(machine *facts.Machine) (found []netip.Prefix, wrong string) {
	for text := range strings.SplitSeq(variable(machine, "TS_ROUTES"), ",") {
		if text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix != prefix.Masked() {
			return nil, text
		}
		found = append(found, prefix)
	}
	return found, ""
}

// routes wants a gateway to advertise the networks of its own cluster.
func routes(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		network := cluster.Network()
		own := append(facts.Prefixes(network.PodCIDRs), facts.Prefixes(network.ServiceCIDRs)...)
		for _, machine := range gatewaysOf(cluster) {
			if unread(sheet, machine) {
				continue
			}
			place := machine.DocumentAt("ExtensionServiceConfig", vpn, "environment")
			found, wrong := advertised(machine)
			stray := slices.IndexFunc(found, func(prefix netip.Prefix) bool { return !slices.Contains(own, prefix) })
			switch {
			case wrong != "":
				sheet.Fail(place, "%s advertises %q, which is no network in its usual form", machine.Name, wrong)
			case len(found) == 0:
				sheet.Fail(place, "%s is a gateway and advertises nothing", machine.Name)
			case stray >= 0:
				sheet.Fail(place, "%s advertises %s, which is not a network of cluster %s", machine.Name, found[stray], cluster.Title())
			default:
				sheet.Pass(place)
			}
		}
	}
}

// alike wants routes of gateways only, and no longer and shorter ones of the same network.
func alike(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		var before []netip.Prefix
		for _, machine := range cluster.Machines {
			found, _ := advertised(machine)
			place := machine.DocumentAt("ExtensionServiceConfig", vpn, "environment")
			switch clash := slices.IndexFunc(found, func(prefix netip.Prefix) bool { return clashes(before, prefix) }); {
			case len(found) == 0:
			case !isGateway(machine):
				sheet.Fail(place, "%s is no gateway and advertises %s", machine.Name, found[0])
			case clash >= 0:
				sheet.Fail(place, "%s advertises %s, and another gateway a part of it or more", machine.Name, found[clash])
			default:
				sheet.Pass(place)
			}
			before = append(before, found...)
		}
	}
}

// clashes says whether a network overlaps another without being the same.
func clashes(others []netip.Prefix, prefix netip.Prefix) bool {
	return slices.ContainsFunc(others, func(other netip.Prefix) bool { return other != prefix && other.Overlaps(prefix) })
}

// deaf wants a gateway to take nothing from the VPN.
func deaf(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !isGateway(machine) || unread(sheet, machine) {
			continue
		}
		arguments := variable(machine, "TS_EXTRA_ARGS")
		accepts := variable(machine, "TS_ACCEPT_DNS") == "true" || strings.Contains(arguments, "--accept-dns") && !strings.Contains(arguments, "--accept-dns=false") ||
			strings.Contains(arguments, "--accept-routes") && !strings.Contains(arguments, "--accept-routes=false")
		place := machine.DocumentAt("ExtensionServiceConfig", vpn, "environment")
		if accepts && machine.Notes[facts.NoteGatewayAccepts] == "" {
			sheet.Fail(place, "%s takes routes or names from the VPN", machine.Name)
			continue
		}
		sheet.Pass(place)
	}
}

// apart wants a gateway not to be a control plane.
func apart(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		switch {
		case !isGateway(machine):
		case machine.ControlPlane:
			sheet.Fail(machine.At(""), "%s is a gateway and a control plane", machine.Name)
		default:
			sheet.Pass(machine.At(""))
		}
	}
}

// lasting wants a gateway to come back by itself.
func lasting(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !isGateway(machine) {
			continue
		}
		var missing []string
		if variable(machine, "TS_AUTH_ONCE") != "true" {
			missing = append(missing, "TS_AUTH_ONCE=true")
		}
		if variable(machine, "TS_HOSTNAME") == "" && !strings.Contains(variable(machine, "TS_EXTRA_ARGS"), "--hostname") {
			missing = append(missing, "TS_HOSTNAME")
		}
		if machine.Notes[facts.NoteGatewayKey] == "" {
			missing = append(missing, "a note what kind of key it has")
		}
		place := machine.DocumentAt("ExtensionServiceConfig", vpn, "environment")
		if len(missing) > 0 {
			sheet.Fail(place, "gateway %s lacks %s", machine.Name, strings.Join(missing, ", "))
			continue
		}
		sheet.Pass(place)
	}
}

// single wants somebody to know that there is one gateway only.
func single(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		found := gatewaysOf(cluster)
		switch count := facts.Count(found); {
		case count == 0:
		case count == 1 && cluster.Notes[facts.NoteSingleGateway] == "":
			sheet.Fail(found[0].At(""), "%s is the only gateway of cluster %s", found[0].Name, cluster.Title())
		default:
			sheet.Pass(found[0].At(""))
		}
	}
}
