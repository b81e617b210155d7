// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"crypto/sha256"
	"fmt"

	"github.com/siderolabs/crypto/x509"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// agreed wants all machines of a cluster to say the same about it.
func agreed(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		var first *facts.Machine
		for _, machine := range cluster.Machines {
			if machine.Config == nil || machine.Rendered { // which are made from one bundle
				continue
			}
			if first == nil {
				first = machine
				continue
			}
			if what := differs(identity(first), identity(machine)); what != "" {
				sheet.Fail(machine.At("cluster"), "%s and %s of cluster %s have different %s", first.Name, machine.Name, cluster.Title(), what)
				continue
			}
			sheet.Pass(machine.At("cluster"))
		}
	}
}

// A part is one thing that machines of a cluster share. Its value is a hash, since some are secrets.
type part struct {
	name string
	hash [sha256.Size]byte
}

// differs names the first part that both have and that differs; empty if there is none.
func differs(one, other []part) string {
	for at := range one {
		if one[at].hash != (part{}).hash && other[at].hash != (part{}).hash && one[at].hash != other[at].hash {
			return one[at].name
		}
	}
	return ""
}

// identity is what machines of a cluster share, as one machine has it. What it does not say has no hash.
func identity(machine *facts.Machine) []part {
	texts := []struct{ name, text string }{{"cluster identities", ""}, {"cluster secrets", ""}, {"endpoints", ""}, {"networks", ""}, {"domains", ""}, {"Talos authorities", ""}, {"Kubernetes authorities", ""}}
	if own := machine.Config.DiscoveryIdentityConfig(); own != nil {
		texts[0].text, texts[1].text = own.ClusterID(), own.ClusterSecret()
	}
	if reached := address(machine); reached != nil {
		texts[2].text = reached.String()
	}
	if network := machine.Config.K8sNetworkConfig(); network != nil {
		texts[3].text, texts[4].text = fmt.Sprint(network.PodCIDRs(), network.ServiceCIDRs()), network.DNSDomain()
	}
	if own := machine.Config.Machine(); own != nil && own.Security() != nil {
		texts[5].text = authority(own.Security().IssuingCA(), own.Security().AcceptedCAs())
	}
	if own := machine.Config.K8sAPIServerCAConfig(); own != nil {
		texts[6].text = authority(own.IssuingCA(), own.AcceptedCAs())
	}
	var parts []part
	for _, one := range texts {
		found := part{name: one.name}
		if one.text != "" {
			found.hash = sha256.Sum256([]byte(one.text))
		}
		parts = append(parts, found)
	}
	return parts
}

// authority is the certificate of an authority: the one that issues, or on a worker the first that is accepted.
func authority(issuing *x509.PEMEncodedCertificateAndKey, accepted []*x509.PEMEncodedCertificate) string {
	switch {
	case issuing != nil:
		return string(issuing.Crt)
	case len(accepted) > 0:
		return string(accepted[0].Crt)
	}
	return ""
}
