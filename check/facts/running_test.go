// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
)

const running = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: %[1]s}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.10}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: %[1]s-place}
spec: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: %[1]s-workers}
spec:
  clusterName: %[1]s
  role: plain
  locationRef: {kind: Location, name: %[1]s-place}
  replicas: 2
  machine: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosMachine
metadata: {name: %[1]s-seen}
spec:
  clusterName: %[1]s
  poolName: %[1]s-workers
  locationRef: {kind: Location, name: %[1]s-place}
  revision: r1
status: {talosVersion: v1.13.9}
`

// TestRunning finds what machines say in three ways, and whose they are.
func TestRunning(t *testing.T) {
	nodes := `{"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "shop-workers-1"}, "status": {"nodeInfo": {"osImage": "Talos (v1.13.8)", "kubeletVersion": "v1.36.2"}}},
  {"kind": "Node", "metadata": {"name": "stranger"}, "status": {"nodeInfo": {"osImage": "Debian GNU/Linux 13"}}}
]}`
	versions := `{"node": "bank-workers-x1", "metadata": {"type": "Versions.runtime.talos.dev", "id": "version"}, "spec": {"version": "v1.13.7"}}`
	all, err := facts.Read(facts.Source{Files: []*facts.File{
		{Path: "shop.yaml", Text: fmt.Appendf(nil, running, "shop")}, {Path: "bank.yaml", Text: fmt.Appendf(nil, running, "bank")},
		{Path: "nodes.json", Text: []byte(nodes)}, {Path: "versions.json", Text: []byte(versions)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range all.Running() {
		cluster, machine := "nobody", "none"
		if one.Cluster != nil {
			cluster = one.Cluster.Name
		}
		if one.Machine != nil {
			machine = one.Machine.Name
		}
		got = append(got, fmt.Sprintf("%s of %s, %s: %s %s", one.Name, cluster, machine, one.Talos, one.Kubernetes))
	}
	want := []string{
		"bank-seen of bank, none: v1.13.9 ", "shop-seen of shop, none: v1.13.9 ", "shop-workers-1 of shop, shop-workers: v1.13.8 v1.36.2", "stranger of nobody, none:  ",
		"bank-workers-x1 of bank, bank-workers: v1.13.7 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
