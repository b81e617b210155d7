// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
)

const declared = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
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
metadata: {name: workers}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: place}
  machine: {metal: {hosts: [{name: one, address: 192.0.2.11, disk: {path: /dev/sda}}]}}
`

const found = `version: v1alpha1
machine: {type: worker}
cluster: {clusterName: shop, controlPlane: {endpoint: "https://192.0.2.10:6443"}}
`

// TestCopies counts a machine once, whether its configuration was rendered beside its declaration or not.
func TestCopies(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"rendered here, with one that is gone": {
			map[string]string{"fleet.yaml": declared, "out/.minos.json": "{}", "out/shop/one.yaml": found, "out/shop/gone.yaml": found}, []string{"fleet.yaml one"},
		},
		"rendered at the root":             {map[string]string{"fleet.yaml": declared, ".minos.json": "{}", "shop/one.yaml": found}, []string{"fleet.yaml one"}},
		"rendered by hand, by its name":    {map[string]string{"fleet.yaml": declared, "out/one.yaml": found}, []string{"fleet.yaml one"}},
		"another machine, found":           {map[string]string{"fleet.yaml": declared, "two.yaml": found}, []string{"fleet.yaml one", "two.yaml two"}},
		"rendered, without declarations":   {map[string]string{"out/.minos.json": "{}", "out/one.yaml": found}, []string{"out/one.yaml one"}},
		"a folder whose name begins alike": {map[string]string{"fleet.yaml": declared, "out/.minos.json": "{}", "outside/two.yaml": found}, []string{"fleet.yaml one", "outside/two.yaml two"}},
	} {
		t.Run(name, func(t *testing.T) {
			var source facts.Source
			for path, text := range test.files {
				source.Files = append(source.Files, &facts.File{Path: path, Text: []byte(text)})
			}
			all, err := facts.Read(source)
			if err != nil || len(all.Problems) > 0 {
				t.Fatal(err, all.Problems)
			}
			var got []string
			for _, machine := range all.Machines {
				got = append(got, machine.File+" "+machine.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
