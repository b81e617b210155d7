// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"fmt"
	"strings"
	"testing"

	"minos.dev/minos/check/facts"
)

// twoClusters declares two clusters with a pool each.
const twoClusters = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: east}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: west}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: place}
spec: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: sunrise}
spec: {clusterName: east, role: compute, locationRef: {kind: Location, name: place}, replicas: 2, machine: {sim: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: sunset}
spec: {clusterName: west, role: plain, locationRef: {kind: Location, name: place}, replicas: 1, machine: {sim: {}}}
`

// nodes is a saved list of Nodes by their names.
func nodes(names ...string) *facts.File {
	var items []string
	for at, name := range names {
		items = append(items, fmt.Sprintf(`{"kind": "Node", "metadata": {"name": %q}, "status": {"nodeInfo": {"osImage": "Talos (v1.13.9)"}, "addresses": [{"type": "InternalIP", "address": "192.0.2.%d"}]}}`, name, at+1))
	}
	return &facts.File{Path: "live/nodes.json", Text: []byte(`{"kind": "List", "items": [` + strings.Join(items, ",") + `]}`)}
}

// TestAsRunning is which of the declared clusters runs, and of which pool its machines are.
func TestAsRunning(t *testing.T) {
	for name, test := range map[string]struct {
		named       string
		nodes       []string
		want, pools string
		err         string
	}{
		"by the names of machines":     {nodes: []string{"sunset-1", "stranger"}, want: "west", pools: "sunset-1=sunset stranger="},
		"names of two":                 {nodes: []string{"sunset-1", "sunrise-1"}, want: "unnamed", pools: "sunset-1= sunrise-1="},
		"names of nobody":              {nodes: []string{"stranger"}, want: "unnamed", pools: "stranger="},
		"named":                        {named: "east", nodes: []string{"stranger", "sunrise-7"}, want: "east", pools: "stranger= sunrise-7=sunrise"},
		"named, and of another's pool": {named: "east", nodes: []string{"sunset-1"}, want: "east", pools: "sunset-1="},
		"named wrong":                  {named: "esst", nodes: []string{"stranger"}, err: `there is no cluster "esst" in the folder, did you mean "east"?`},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := facts.Read(facts.Source{Files: []*facts.File{{Path: "fleet.yaml", Text: []byte(twoClusters)}}, Live: []*facts.File{nodes(test.nodes...)}})
			if err != nil {
				t.Fatal(err)
			}
			declared := len(all.Machines)
			made, err := all.AsRunning(test.named)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("%v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var pools []string
			for _, machine := range made.Machines {
				pool := ""
				if machine.Pool != nil {
					pool = machine.Pool.Object.Name
				}
				pools = append(pools, machine.Name+"="+pool)
			}
			if got := strings.Join(pools, " "); got != test.pools || made.Clusters[0].Name != test.want {
				t.Errorf("cluster %s with %s, want %s with %s", made.Clusters[0].Name, got, test.want, test.pools)
			}
			if len(all.Machines) != declared || len(all.Clusters) != 2 || all.Clusters[0].Running {
				t.Error("the facts themselves were changed")
			}
		})
	}
}

// TestReading wants "there is none" and "could not be read" to stay apart, through a file and back.
func TestReading(t *testing.T) {
	file := &facts.File{Path: "live/talos.json", Text: []byte(`{"apiVersion": "check.minos.dev/v1alpha1", "kind": "Reading", "node": "192.0.2.1",
		"read": ["Diagnostics.runtime.talos.dev"], "unread": [{"what": "Services.v1alpha1.talos.dev", "why": "no answer"}, {"what": "MachineStatuses.runtime.talos.dev", "why": "no answer"}]}`)}
	all, err := facts.Read(facts.Source{Files: []*facts.File{file, nodes("one")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, asked := all.Live.Resources[facts.LiveDiagnostics]; !asked {
		t.Error("what was read and is none is taken for what was not asked")
	}
	if _, asked := all.Live.Resources[facts.LiveServices]; asked {
		t.Error("what could not be read is taken for none")
	}
	missing := all.Live.Missing([]string{facts.LiveServices, facts.LiveMachineStatuses, facts.LiveDiagnostics})
	if len(missing) != 1 || missing[0].Machine != "one" || missing[0].String() != "could not read Services, MachineStatuses of one (192.0.2.1): no answer" {
		t.Errorf("%v", missing)
	}
	object := all.Live.Readings[0].Object()
	if fmt.Sprint(object["read"]) != "[Diagnostics.runtime.talos.dev]" || object["node"] != "192.0.2.1" {
		t.Errorf("%v", object)
	}
}

// TestLiveBeforeSaved wants what is asked now to stand in for what was saved.
func TestLiveBeforeSaved(t *testing.T) {
	old := nodes("gone")
	old.Path = "saved/nodes.json"
	all, err := facts.Read(facts.Source{Files: []*facts.File{old}, Live: []*facts.File{nodes("here")}})
	if err != nil || len(all.Live.Nodes) != 1 || all.Live.Nodes[0].Name() != "here" || len(all.Manifests) != 0 {
		t.Errorf("%+v, %v", all.Live, err)
	}
}
