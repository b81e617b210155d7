// SPDX-License-Identifier: Apache-2.0

package machineconfig_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/machineconfig"
	"minos.dev/minos/check/rule"
)

// declaration is a fleet of one machine of metal, with a control plane's secrets.
const declaration = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: VERSION
  endpoint: {host: 192.0.2.10}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: place}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: planes}
spec:
  clusterName: shop
  role: control-plane
  locationRef: {kind: Location, name: place}
  machine: {metal: {hosts: [{name: one, address: 192.0.2.11, disk: {path: /dev/sda}}]}}
`

// judged applies a rule to files.
func judged(t *testing.T, id string, files ...*facts.File) ([]*rule.Outcome, *facts.Facts) {
	t.Helper()
	all, err := facts.Read(facts.Source{Files: files, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range machineconfig.Rules() {
		if one.ID == id {
			return one.Apply(all), all
		}
	}
	t.Fatalf("there is no rule %s", id)
	return nil, nil
}

// The places of secrets in a rendered configuration, and what a machine would have there.
var others = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]+`), "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmIzUm9aWEk9Cg=="},
	{regexp.MustCompile(`aaaaaa\.aaaaaaaaaaaaaaaa`), "b2k4mx.p9w3t7c1z5j8d6hs"},
	{regexp.MustCompile(`A{43}=`), "c29tZXRoaW5nIGVsc2UgdGhhdCBpcyBzZWNyZXQgISE="},
	{regexp.MustCompile(`(?s)(-----BEGIN CERTIFICATE-----\s+).*?(\s+-----END)`), "${1}b3RoZXI=${2}"},
	{regexp.MustCompile(`(?s)(-----BEGIN EC PRIVATE KEY-----\s+).*?(\s+-----END)`), "${1}b3RoZXI=${2}"},
}

// TestDriftOfADeclaredMachine wants a machine that differs in its secrets only to be the same, whichever form its configuration has.
func TestDriftOfADeclaredMachine(t *testing.T) {
	for _, version := range []string{"v1.12.7", "v1.13.9", "v1.14.1"} {
		fleet := &facts.File{Path: "fleet.yaml", Text: []byte(strings.ReplaceAll(declaration, "VERSION", version)), Tracked: true}
		_, all := judged(t, "CFG-003", fleet)
		if len(all.Machines) != 1 {
			t.Fatalf("%s: %d machines, and %v", version, len(all.Machines), all.Pools[0].Refused)
		}
		text := string(all.Machines[0].Text)
		for _, other := range others {
			text = other.from.ReplaceAllString(text, other.to)
		}
		if text == string(all.Machines[0].Text) {
			t.Fatalf("%s: the secrets look different by now", version)
		}
		for _, test := range []struct {
			text string
			want rule.Verdict
		}{{text, rule.Passed}, {strings.Replace(text, "192.0.2.10", "192.0.2.99", 1), rule.Failed}} {
			outcomes, _ := judged(t, "CFG-003", fleet, saved(t, test.text))
			if len(outcomes) != 1 || outcomes[0].Verdict != test.want {
				t.Errorf("%s: wanted %s, got %s: %s", version, test.want, outcomes[0].Verdict, outcomes[0].Evidence)
			}
		}
	}
}

// saved is the configuration of a running machine as talosctl prints it.
func saved(t *testing.T, text string) *facts.File {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]string{"type": "MachineConfigs.config.talos.dev", "id": "v1alpha1"}, "node": "192.0.2.11", "spec": text})
	if err != nil {
		t.Fatal(err)
	}
	return &facts.File{Path: "live.json", Text: body}
}

// TestNothingSecretIsSaid wants what is said of a configuration that Talos refuses, and of one that drifted, to hold no secret.
func TestNothingSecretIsSaid(t *testing.T) {
	const hidden = "b2k4mx.p9w3t7c1z5j8d6hs"
	text := "version: v1alpha1\nmachine:\n  type: worker\n  tokn: " + hidden + "\n---\napiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterID: " + hidden + "\nclusterSecret: " + hidden + "\n"
	refused := "version: v1alpha1\nmachine: {type: worker}\n---\napiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterID: c29tZXRoaW5n\nclusterSecret: " + hidden + "\n"
	for _, configuration := range []string{text, refused} {
		for _, id := range []string{"CFG-003", "CFG-004", "CFG-006", "CFG-019"} {
			outcomes, _ := judged(t, id, &facts.File{Path: "one.yaml", Text: []byte(configuration), Tracked: true}, saved(t, strings.ReplaceAll(configuration, hidden, "q7r5yz.u83kx1p0d6m2n4bv")))
			for _, outcome := range outcomes {
				if said := outcome.Text + outcome.Evidence; strings.Contains(said, hidden) || strings.Contains(said, "q7r5yz.") {
					t.Errorf("%s says %s", id, said)
				}
			}
		}
	}
}
