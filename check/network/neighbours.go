// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// oneSpeaker wants one speaker of BGP on a machine.
func oneSpeaker(all *facts.Facts, sheet *rule.Sheet) {
	calico := slices.ContainsFunc(all.Manifests, func(manifest *facts.Document) bool {
		return manifest.Kind() == "BGPPeer" && strings.Contains(manifest.APIVersion(), "projectcalico.org/")
	})
	for _, machine := range machines(all) {
		var speakers []string
		if calico {
			speakers = append(speakers, "Calico")
		}
		if machine.HasExtension("bird2") {
			speakers = append(speakers, "the extension bird2")
		}
		if len(machine.Config.NetworkBGPInstanceConfigs()) > 0 {
			speakers = append(speakers, "Talos itself")
		}
		switch len(speakers) {
		case 0:
		case 1:
			sheet.Pass(machine.At(""))
		default:
			sheet.Fail(machine.At(""), "on %s BGP is spoken by %s", machine.Name, strings.Join(speakers, " and "))
		}
	}
}

// timed wants time servers that a machine can reach.
func timed(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range machines(all) {
		clock := machine.Config.NetworkTimeSyncConfig()
		if clock == nil || len(clock.Servers()) == 0 {
			continue
		}
		has := map[bool]bool{} // by whether it is IPv4
		for _, address := range machine.Addresses() {
			has[address.Addr().Is4()] = true
		}
		if len(has) == 0 {
			sheet.Unknown(machine.At("machine.time.servers"), "%s gets its addresses from elsewhere, so that their family is not known", machine.Name)
			continue
		}
		if slices.ContainsFunc(clock.Servers(), func(server string) bool {
			address, err := netip.ParseAddr(server)
			return err != nil || has[address.Is4()] // a host name may have both
		}) {
			sheet.Pass(machine.At("machine.time.servers"))
			continue
		}
		sheet.Fail(machine.At("machine.time.servers"), "%s has no address of the family of any of its time servers: %s", machine.Name, strings.Join(clock.Servers(), ", "))
	}
}
