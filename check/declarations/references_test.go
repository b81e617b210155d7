// SPDX-License-Identifier: Apache-2.0

package declarations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	"minos.dev/minos/check/declarations"
)

// fleet is a folder in which everything leads somewhere.
const fleet = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: a}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.1}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: place, namespace: a}
spec: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house}
spec: {kubevirt: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata: {name: special}
spec: {extends: gpu-amd}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers, namespace: a}
spec:
  clusterName: shop
  role: special
  locationRef: {kind: Location, name: place}
  replicas: 1
  machine: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: masters, namespace: a}
spec:
  clusterName: shop
  role: control-plane
  locationRef: {kind: Location, name: place}
  replicas: 3
  machine: {sim: {}}
`

func TestReferences(t *testing.T) {
	replace := func(old, with string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, old, with) }
	}
	tests := map[string]struct {
		change func(string) string
		want   []string
	}{
		"everything leads somewhere": {replace("", ""), nil},
		"a Talos version that does not run it": {
			replace("v1.36.3", "v1.37.0"),
			[]string{"fleet.yaml:6: spec.talosVersion: Talos v1.13.9 does not run Kubernetes v1.37.0: it runs 1.31 to 1.36"},
		},
		"a cluster in another namespace is another cluster": {
			replace("{name: shop, namespace: a}", "{name: shop, namespace: b}"),
			[]string{
				`fleet.yaml:29: spec.clusterName: there is no TalosCluster "shop" in namespace "a": declare it, or correct the name`,
				`fleet.yaml:39: spec.clusterName: there is no TalosCluster "shop" in namespace "a": declare it, or correct the name`,
			},
		},
		"a place that is not there": {
			replace("locationRef: {kind: Location, name: place}\n  replicas: 1", "locationRef: {kind: ClusterLocation, name: hose}\n  replicas: 1"),
			[]string{`fleet.yaml:31: spec.locationRef: there is no ClusterLocation "hose", did you mean "house"?`},
		},
		"a place of another kind": {
			replace("locationRef: {kind: Location, name: place}\n  replicas: 1", "locationRef: {kind: ClusterLocation, name: house}\n  replicas: 1"),
			[]string{`fleet.yaml:33: spec.machine: has sim and the place "house" is of kind kubevirt: they must be the same`},
		},
		"a role that does not work on the processor": {
			replace("role: special", "role: special\n  architecture: arm64"),
			[]string{`fleet.yaml:30: spec.role: role "special": no image for arm64: its hardware is amd64`},
		},
		"a role for control planes in a hosted cluster": {
			replace("controlPlane: {talos: {}}", "controlPlane: {kamaji: {}}"),
			[]string{`fleet.yaml:40: spec.role: role "control-plane" is for control planes on Talos machines, and cluster "shop" has another kind: choose a role for workers`},
		},
		"a role that extends nothing breaks its pools too": {
			replace("extends: gpu-amd", "extends: gpu-amp"),
			[]string{
				`fleet.yaml:23: spec.extends: role "special" extends a role that does not exist: there is no role "gpu-amp", did you mean "gpu-amd"?`,
				`fleet.yaml:30: spec.role: role "special" extends a role that does not exist: there is no role "gpu-amp", did you mean "gpu-amd"?`,
			},
		},
		"an extension that the release does not have": {
			replace("extends: gpu-amd", "extensions: [i915-ucode, zsf]"),
			[]string{
				`fleet.yaml:30: spec.role: role "special": system extension "i915-ucode" was renamed after v1.8.4: write "i915"`,
				`fleet.yaml:30: spec.role: role "special": system extension "zsf" does not exist, did you mean "zfs" (in every release)?`,
			},
		},
		"the same object twice": {
			func(text string) string { return text + "---\n" + text[:strings.Index(text, "---")] },
			[]string{`fleet.yaml:47: metadata.name: TalosCluster "shop" is declared in fleet.yaml:3 already: remove or rename one of them`},
		},
	}
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			documents, problems := reader.Read("fleet.yaml", []byte(test.change(fleet)))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			found, err := declarations.References(documents)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, problem := range found {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
