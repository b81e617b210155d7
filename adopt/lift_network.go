// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// liftNetwork turns name servers and time servers into those of the location. Ours are written in the shape of the Talos
// version, so the other tool's must be in the same.
func (p *plan) liftNetwork(fields patch.Document, step Step) {
	before := len(fields)
	if p.contract.MultidocNetworkConfigSupported() {
		p.liftResolver(fields)
		p.liftTime(fields, "TimeSyncConfig", "ntp", "servers")
	} else {
		if servers, ok := only(fields, "", "machine", "network", "nameservers"); ok && len(p.place().Nameservers) == 0 {
			p.place().Nameservers = addresses(texts(servers))
			empty(fields)
		}
		p.liftTime(fields, "", "machine", "time", "servers")
	}
	if len(fields) < before {
		p.from.add("network", step.comment())
	}
}

// liftTime turns time servers.
func (p *plan) liftTime(fields patch.Document, kind string, path ...string) {
	if servers, ok := only(fields, kind, path...); ok && len(p.place().TimeServers) == 0 {
		p.place().TimeServers = texts(servers)
		empty(fields)
	}
}

// liftResolver turns a ResolverConfig that says nothing but servers and domains.
func (p *plan) liftResolver(fields patch.Document) {
	if fields["kind"] != "ResolverConfig" || len(p.place().Nameservers) > 0 {
		return
	}
	rest := patch.Clone(fields)
	var servers []string
	list, _ := rest["nameservers"].([]any)
	for _, item := range list {
		server, _ := item.(patch.Document)
		if len(server) != 1 || text(server, "address") == "" {
			return
		}
		servers = append(servers, text(server, "address"))
	}
	domains := texts(patch.Get(rest, "searchDomains", "domains"))
	delete(rest, "nameservers")
	patch.Without(rest, []string{"searchDomains", "domains"})
	if patch.Get(rest, "searchDomains", "disableDefault") == false { // what Talos does without a word, too
		patch.Without(rest, []string{"searchDomains", "disableDefault"})
	}
	if !patch.IsEmpty(rest) || len(servers) == 0 {
		return
	}
	p.place().Nameservers, p.place().SearchDomains = addresses(servers), domains
	empty(fields)
}

// place is the network settings of the location.
func (p *plan) place() *api.PlaceNetwork {
	if p.network == nil {
		p.network = &api.PlaceNetwork{}
	}
	return p.network
}

func addresses(all []string) []api.Address {
	var found []api.Address
	for _, one := range all {
		found = append(found, api.Address(one))
	}
	return found
}
