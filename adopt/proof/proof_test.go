// SPDX-License-Identifier: Apache-2.0

package proof_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt/proof"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/redact"
)

const (
	first  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	second = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

const base = `version: v1alpha1
machine:
  type: worker
  token: aaaaaa.bbbbbbbbbbbbbbbb
  install:
    image: factory.talos.dev/metal-installer/` + first + `:v1.13.8
  certSANs: [a, b]
cluster:
  controlPlane:
    endpoint: https://a.example.com
`

// compared compares two configurations of one machine and writes down what was found.
func compared(t *testing.T, theirs, ours string, version api.TalosVersion) []string {
	t.Helper()
	hidden := &redact.Redactor{}
	hidden.Learn("a-long-secret-value")
	result, err := proof.Compare(map[string][]byte{"m": []byte(theirs)}, map[string][]byte{"m": []byte(ours)},
		proof.Rules{Talos: version, Schematics: map[string]string{second: first}, Secrets: hidden})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(value *string) string {
		if value == nil {
			return "-"
		}
		return *value
	}
	var found []string
	for _, d := range result.Differences {
		found = append(found, strings.TrimSpace("differs "+d.Document+" "+d.Path+" "+shown(d.Theirs)+" "+shown(d.Ours)+" "+d.Why))
	}
	for _, l := range result.Likenesses {
		found = append(found, strings.TrimSpace("alike "+l.Document+" "+l.Path))
	}
	return found
}

func TestCompare(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(base, old, new, 1) }
	tests := map[string]struct {
		theirs, ours string
		version      api.TalosVersion
		want         []string
	}{
		"the same":                     {base, base, "v1.13.8", nil},
		"another order and style":      {base, "machine:\n  install: {image: 'factory.talos.dev/metal-installer/" + first + ":v1.13.8'}\n  token: aaaaaa.bbbbbbbbbbbbbbbb\n  certSANs: [a, b]\n  type: worker\nversion: v1alpha1\ncluster: {controlPlane: {endpoint: 'https://a.example.com'}}\n", "v1.13.8", nil},
		"a value":                      {base, replace("type: worker", "type: controlplane"), "v1.13.8", []string{"differs v1alpha1 machine.type worker controlplane the machine type comes from the role: set spec.machineType of the NodeRole"}},
		"a secret":                     {base, replace("aaaaaa.bbbb", "cccccc.bbbb"), "v1.13.8", []string{"differs v1alpha1 machine.token " + redact.Mark + " " + redact.Mark + " tokens are made by Minos and cannot be patched: rotate them instead"}},
		"a secret elsewhere":           {base, replace("[a, b]", "[a, a-long-secret-value]"), "v1.13.8", []string{"differs v1alpha1 machine.certSANs[1] b " + redact.Mark}},
		"the order of a list":          {base, replace("[a, b]", "[b, a]"), "v1.13.8", []string{"differs v1alpha1 machine.certSANs[0] a b", "differs v1alpha1 machine.certSANs[1] b a"}},
		"an empty mapping":             {base, replace("cluster:", "  env: {}\ncluster:"), "v1.13.8", []string{"differs v1alpha1 machine.env - {}"}},
		"a document":                   {base, base + "---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 1\n", "v1.13.8", []string{"differs LinkConfig/eth0  - the document"}},
		"the port of https":            {base, replace("a.example.com", "a.example.com:443"), "v1.13.8", []string{"alike v1alpha1 cluster.controlPlane.endpoint"}},
		"another port":                 {base, replace("a.example.com", "a.example.com:6443"), "v1.13.8", []string{"differs v1alpha1 cluster.controlPlane.endpoint https://a.example.com:443 https://a.example.com:6443 the endpoint comes from the cluster: set spec.endpoint of the TalosCluster"}},
		"the pod network of a worker":  {replace("cluster:", "cluster:\n  network: {cni: {name: none}}"), base, "v1.13.8", []string{"alike v1alpha1 cluster.network.cni"}},
		"the pod network elsewhere":    {strings.Replace(replace("cluster:", "cluster:\n  network: {cni: {name: none}}"), "worker", "controlplane", 1), strings.Replace(base, "worker", "controlplane", 1), "v1.13.8", []string{"differs v1alpha1 cluster.network.cni.name none -"}},
		"the default pod network":      {strings.Replace(replace("cluster:", "cluster:\n  network: {cni: {name: flannel}}"), "worker", "controlplane", 1), strings.Replace(base, "worker", "controlplane", 1), "v1.13.8", []string{"alike v1alpha1 cluster.network.cni"}},
		"extensions in another order":  {replace(first, second), base, "v1.13.8", []string{"alike v1alpha1 machine.install.image"}},
		"another image":                {replace(first, strings.Repeat("c", 64)), base, "v1.13.8", []string{"differs v1alpha1 machine.install.image factory.talos.dev/metal-installer/" + strings.Repeat("c", 64) + ":v1.13.8 factory.talos.dev/metal-installer/" + first + ":v1.13.8"}},
		"another version":              {replace(":v1.13.8", ":v1.13.7"), base, "v1.13.8", []string{"differs v1alpha1 machine.install.image factory.talos.dev/metal-installer/" + first + ":v1.13.7 factory.talos.dev/metal-installer/" + first + ":v1.13.8"}},
		"the old name of an installer": {replace("metal-installer", "installer"), base, "v1.13.8", []string{"alike v1alpha1 machine.install.image"}},
		"SecureBoot":                   {replace("metal-installer", "metal-installer-secureboot"), base, "v1.13.8", []string{"differs v1alpha1 machine.install.image factory.talos.dev/metal-installer-secureboot/" + first + ":v1.13.8 factory.talos.dev/metal-installer/" + first + ":v1.13.8"}},
		"mirrors in the old field": {
			replace("cluster:", "  registries: {mirrors: {docker.io: {endpoints: ['https://m'], skipFallback: true}}}\ncluster:"),
			base + "---\napiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints: [{url: 'https://m'}]\nskipFallback: true\n", "v1.13.8",
			[]string{"alike RegistryMirrorConfig/docker.io", "alike v1alpha1 machine.registries.mirrors"},
		},
		"mirrors that differ": {
			replace("cluster:", "  registries: {mirrors: {docker.io: {endpoints: ['https://m'], overridePath: true}}}\ncluster:"),
			base + "---\napiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints: [{url: 'https://m'}]\n", "v1.13.8",
			[]string{"differs RegistryMirrorConfig/docker.io endpoints[0].overridePath true -", "alike v1alpha1 machine.registries.mirrors"},
		},
		"mirrors before the document": {
			replace("cluster:", "  registries: {mirrors: {docker.io: {endpoints: ['https://m']}}}\ncluster:"), base, "v1.11.5",
			[]string{`differs v1alpha1 machine.registries.mirrors["docker.io"].endpoints[0] https://m -`},
		},
		"what Talos assumes": {
			base + "---\napiVersion: v1alpha1\nkind: ResolverConfig\nnameservers: [{address: 1.1.1.1}]\nsearchDomains: {disableDefault: false}\n",
			base + "---\napiVersion: v1alpha1\nkind: ResolverConfig\nnameservers: [{address: 1.1.1.1}]\n", "v1.13.8",
			[]string{"alike ResolverConfig searchDomains.disableDefault"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, compared(t, test.theirs, test.ours, test.version)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMachinesThatAreMissing(t *testing.T) {
	result, err := proof.Compare(map[string][]byte{"a": []byte(base)}, map[string][]byte{"b": []byte(base)}, proof.Rules{Talos: "v1.13.8"})
	if err != nil {
		t.Fatal(err)
	}
	want := []proof.Difference{{Machine: "a", Why: "we have no such machine"}, {Machine: "b", Why: "they have no such machine"}}
	if diff := cmp.Diff(want, result.Differences); diff != "" {
		t.Error(diff)
	}
}
