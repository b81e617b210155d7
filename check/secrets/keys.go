// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/siderolabs/crypto/x509"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// each has a rule judge machines, and says of those whose configuration cannot be read that nothing is known.
func each(all *facts.Facts, sheet *rule.Sheet, judge func(*facts.Machine)) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			sheet.Unknown(machine.At(""), "the configuration of %s cannot be read: %s", machine.Name, whyNot(machine))
			continue
		}
		judge(machine)
	}
}

// whyNot says why a configuration cannot be read, without anything of it.
func whyNot(machine *facts.Machine) string {
	if strings.Contains(string(machine.Text), "ENC[AES256_GCM") {
		return "it is encrypted"
	}
	return "Talos refuses it"
}

// planes is [each] for machines that run a control plane.
func planes(all *facts.Facts, sheet *rule.Sheet, judge func(*facts.Machine)) {
	each(all, sheet, func(machine *facts.Machine) {
		if machine.ControlPlane {
			judge(machine)
		}
	})
}

// workers wants workers without private keys of authorities.
func workers(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		if machine.ControlPlane {
			return
		}
		held := heldKeys(machine)
		if len(held) > 0 {
			sheet.Fail(machine.At("machine"), "worker %s has %s", machine.Name, strings.Join(held, ", "))
			return
		}
		sheet.Pass(machine.At("machine"))
	})
}

// heldKeys are the private keys of authorities that a machine has.
func heldKeys(machine *facts.Machine) []string {
	var held []string
	for name, key := range privateKeys(machine) {
		if len(key) > 0 {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return held
}

// privateKeys are those of authorities, as far as a configuration has words for them.
func privateKeys(machine *facts.Machine) map[string][]byte {
	config, keys := machine.Config, map[string][]byte{}
	add := func(name string, pair *x509.PEMEncodedCertificateAndKey) {
		if pair != nil {
			keys[name] = pair.Key
		}
	}
	if own := config.Machine(); own != nil {
		add("the key of the Talos authority", own.Security().IssuingCA())
	}
	if authority := config.K8sAPIServerCAConfig(); authority != nil {
		add("the key of the Kubernetes authority", authority.IssuingCA())
	}
	if authority := config.K8sAggregatorCAConfig(); authority != nil {
		add("the key of the aggregator's authority", authority.IssuingCA())
	}
	if raw := config.RawV1Alpha1(); raw != nil && raw.ClusterConfig != nil && raw.ClusterConfig.EtcdConfig != nil {
		add("the key of etcd's authority", raw.ClusterConfig.EtcdConfig.RootCA)
	}
	if account := config.K8sServiceAccountConfig(); account != nil && account.IssuingKey() != nil {
		keys["the key of service accounts"] = account.IssuingKey().Key
	}
	return keys
}

// atRest wants Secrets to be encrypted in etcd.
func atRest(all *facts.Facts, sheet *rule.Sheet) {
	planes(all, sheet, func(machine *facts.Machine) {
		place := machine.At("cluster.secretboxEncryptionSecret")
		cluster := machine.Config.Cluster()
		switch document := machine.Config.K8sEtcdEncryptionConfig(); {
		case document != nil && encryptsSecrets(document.EtcdEncryptionConfig()):
			sheet.Pass(machine.DocumentAt("KubeEtcdEncryptionConfig", "", "config"))
		case document != nil:
			sheet.Fail(machine.DocumentAt("KubeEtcdEncryptionConfig", "", "config"), "%s has a configuration of etcd's encryption by which Secrets are written as they are", machine.Name)
		case cluster != nil && (cluster.SecretboxEncryptionSecret() != "" || cluster.AESCBCEncryptionSecret() != ""):
			sheet.Pass(place)
		default:
			sheet.Fail(place, "%s has no key to encrypt Secrets in etcd with", machine.Name)
		}
	})
}

// encryptsSecrets says whether a configuration of the API server encrypts Secrets: the first provider is the one that writes.
func encryptsSecrets(config map[string]any) bool {
	resources, _ := facts.Get(config, "resources").([]any)
	for _, one := range resources {
		names, _ := facts.Get(one, "resources").([]any)
		if !slices.ContainsFunc(names, func(name any) bool { return name == "secrets" || name == "*." || name == "*.*" }) {
			continue
		}
		return facts.Get(one, "providers[0]") != nil && facts.Get(one, "providers[0].identity") == nil
	}
	return false
}

// A comparison is what clusters, and bundles, have that only they should have.
type comparison struct {
	sheet  *rule.Sheet
	owners map[[sha256.Size]byte]string // by the fingerprint of a value
	places map[string]facts.Place
	failed map[string]bool
}

// add compares the values of one with those of all before.
func (c *comparison) add(of string, place facts.Place, values map[string]string) {
	if _, known := c.places[of]; !known && len(values) > 0 {
		c.places[of] = place
	}
	for _, what := range slices.Sorted(maps.Keys(values)) {
		digest := sha256.Sum256([]byte(what + values[what]))
		other, taken := c.owners[digest]
		switch {
		case !taken:
			c.owners[digest] = of
		case other != of && !c.failed[of]:
			c.failed[of] = true
			c.sheet.Fail(place, "%s and %s have the same %s", of, other, what)
		}
	}
}

// shared wants clusters without secrets in common. Values that Minos made up to rehearse with are not compared.
func shared(all *facts.Facts, sheet *rule.Sheet) {
	compared := &comparison{sheet: sheet, owners: map[[sha256.Size]byte]string{}, places: map[string]facts.Place{}, failed: map[string]bool{}}
	for _, machine := range all.Machines {
		compared.add("cluster "+machine.Cluster.Title(), machine.At("cluster"), identity(machine))
	}
	clusters := len(compared.places)
	compared.bundles(all)
	for _, of := range slices.Sorted(maps.Keys(compared.places)) {
		if len(compared.places) > 1 && !compared.failed[of] {
			sheet.Pass(compared.places[of])
		}
	}
	if missing := len(all.Clusters) - max(clusters, len(compared.places)-clusters); len(all.Clusters) > 1 && missing > 0 {
		sheet.Unknown(all.Whole(), "the secrets of %d of %d clusters are not in the files, and cannot be compared", missing, len(all.Clusters))
	}
}

// bundles compares the bundles of secrets with each other, where they are readable. A bundle and the machines that are made from it
// are one.
func (c *comparison) bundles(all *facts.Facts) {
	for _, bundle := range all.Bundles {
		values := map[string]string{}
		for path, what := range map[string]string{"cluster.id": "identity", "cluster.secret": "secret of members", "certs.os.crt": "Talos authority", "certs.k8s.crt": "Kubernetes authority"} {
			if value := bundle.String(path); len(all.Bundles) > 1 && value != "" && !strings.HasPrefix(value, "ENC[") {
				values["bundled "+what] = value
			}
		}
		c.add("bundle "+bundle.File.Path, all.InDocument(bundle, "cluster"), values)
	}
}

// identity is what a machine has in common with the machines of its own cluster only.
func identity(machine *facts.Machine) map[string]string {
	if machine.Config == nil || machine.Rendered {
		return nil
	}
	values := map[string]string{}
	if own := machine.Config.DiscoveryIdentityConfig(); own != nil {
		values["identity"], values["secret of members"] = own.ClusterID(), own.ClusterSecret()
	}
	if own := machine.Config.Machine(); own != nil && own.Security().IssuingCA() != nil {
		values["Talos authority"] = string(own.Security().IssuingCA().Crt)
	}
	if authority := machine.Config.K8sAPIServerCAConfig(); authority != nil && len(authority.AcceptedCAs()) > 0 {
		values["Kubernetes authority"] = string(authority.AcceptedCAs()[0].Crt)
	}
	for what, value := range values {
		if value == "" {
			delete(values, what)
		}
	}
	return values
}
