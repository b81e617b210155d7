// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// joins is what makes a machine join the right cluster, by document and path. It is written down here a second time, on
// purpose: a path that is missing from the list of protected ones should be noticed.
var joins = []string{
	"|machine.type", "|machine.token", "|machine.ca.crt", "|cluster.token", "|cluster.id", "|cluster.secret", "|cluster.ca.crt",
	"|cluster.clusterName", "|cluster.controlPlane.endpoint", "|cluster.network.podSubnets", "|cluster.network.serviceSubnets",
	"|cluster.network.dnsDomain", "KubeClusterConfig|clusterName", "KubeClusterConfig|endpoint", "KubeNetworkConfig|podSubnets",
	"KubeNetworkConfig|serviceSubnets", "KubeNetworkConfig|dnsDomain", "KubeAPIServerCAConfig|acceptedCAs",
	"DiscoveryIdentityConfig|clusterID", "DiscoveryIdentityConfig|clusterSecret",
}

// FuzzPatch looks for a patch of a user's that is accepted and changes what makes the machine join, or that makes the merge
// panic.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`{"machine":{"sysctls":{"a":"1"}}}`, `{"machine":{"token":"x"}}`, `{"cluster":{"$patch":"delete"}}`, `{"cluster":null}`,
		`{"machine":{"ca":{"crt":"eA=="}},"cluster":{"id":""}}`, `{"version":"v1alpha1","machine":{"network":{"hostname":"x"}}}`,
		`{"apiVersion":"v1alpha1","kind":"KubeNetworkConfig","nodeCIDRMaskSizeIPv4":25}`,
		`{"apiVersion":"v1alpha1","kind":"KubeClusterConfig","$patch":"delete"}`,
		`{"apiVersion":"v1alpha1","kind":"HostnameConfig","auto":"off","hostname":"x"}`,
		`{"apiVersion":"v1alpha1","kind":"KubeNodeConfig","labels":{"a":"b"},"nodeIP":{"validSubnets":["10.0.0.0/8"]}}`,
		`{"kind":"","machine":{"type":"controlplane"}}`, `{"machine":{"Token":"x"}}`, `{"machine":{"type":null}}`,
	} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(2))
	}
	archive, err := txtar.ParseFile("testdata/worker.txtar")
	if err != nil {
		f.Fatal(err)
	}
	inputs, before := map[api.TalosVersion]config.Input{}, map[api.TalosVersion]map[string]any{}
	for _, version := range versions {
		inputs[version] = input(f, archive.Files[0].Data, version)
		text, err := render(inputs[version])
		if err != nil {
			f.Fatal(err)
		}
		before[version] = identityOf(f, text)
	}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		var patch api.Patch
		if json.Unmarshal(raw, &patch) != nil {
			return
		}
		version := versions[int(which)%len(versions)]
		in := inputs[version]
		in.Pool = in.Pool.DeepCopy()
		in.Pool.Spec.Config = &api.PoolConfig{Layer: api.Layer{Patches: []api.Patch{patch}}}
		text, err := render(in)
		if err != nil {
			return
		}
		if after := identityOf(t, text); !reflect.DeepEqual(before[version], after) {
			t.Errorf("%s: the patch %s was accepted and changed what joins the machine:\n%v\n%v", version, raw, before[version], after)
		}
	})
}

// TestEverythingThatJoinsIsProtected sets each of those paths in a patch and expects it to be refused.
func TestEverythingThatJoinsIsProtected(t *testing.T) {
	for _, path := range joins {
		kind, field, _ := strings.Cut(path, "|")
		steps := strings.Split(field, ".")
		var document any = "x"
		for i := len(steps) - 1; i >= 0; i-- {
			document = map[string]any{steps[i]: document}
		}
		whole := document.(map[string]any)
		if kind != "" {
			whole["apiVersion"], whole["kind"] = "v1alpha1", kind
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := errors.AsType[*config.ProtectedError](config.Protected("pool", []api.Patch{{Raw: text}})); !ok {
			t.Errorf("the patch %s is not refused", text)
		}
	}
}

// identityOf reads what makes a machine join from its configuration.
func identityOf(t testing.TB, text string) map[string]any {
	t.Helper()
	found := map[string]any{}
	reader := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document map[string]any
		err := reader.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := document["kind"].(string)
		for _, path := range joins {
			if of, field, _ := strings.Cut(path, "|"); of == kind {
				if value := at(document, strings.Split(field, ".")); value != nil {
					found[path] = value
				}
			}
		}
	}
}

// at returns what is at a path, or nil.
func at(node any, path []string) any {
	for _, step := range path {
		mapping, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = mapping[step]
	}
	return node
}
