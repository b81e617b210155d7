// SPDX-License-Identifier: Apache-2.0

package declarations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	"minos.dev/minos/check/declarations"
)

// shelf is a folder with machines of metal in two pools, and nothing wrong.
const shelf = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shelf}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.10}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: there}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: masters}
spec:
  clusterName: shelf
  role: control-plane
  locationRef: {kind: Location, name: here}
  machine:
    metal:
      hosts:
        - {name: one, address: 192.0.2.11, disk: {path: /dev/sda}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: shelf
  role: plain
  locationRef: {kind: Location, name: here}
  machine:
    metal:
      hosts:
        - {name: two, address: 192.0.2.12, disk: {path: /dev/sda}}
  config: {labels: {example.com/disk: nvme, topology.kubernetes.io/region: eu}}
`

func TestHosts(t *testing.T) {
	tests := map[string]struct {
		old, with string
		want      []string
	}{
		"nothing is wrong": {"", "", nil},
		"two hosts with one name": {
			"name: two", "name: one",
			[]string{`fleet.yaml:42: spec.machine.metal.hosts[0].name: pool masters has a host "one" too: rename one of them`},
		},
		"two hosts with one address": {
			"192.0.2.12", "192.0.2.11",
			[]string{"fleet.yaml:42: spec.machine.metal.hosts[0].address: host one has the address 192.0.2.11 too: give each its own"},
		},
		"one address in two places": {
			between(shelf, "role: plain\n", "192.0.2.12"),
			strings.NewReplacer("name: here", "name: there", "192.0.2.12", "192.0.2.11").Replace(between(shelf, "role: plain\n", "192.0.2.12")), nil,
		},
		"a host inside the pod network": {
			"192.0.2.12", "10.244.1.2",
			[]string{"fleet.yaml:42: spec.machine.metal.hosts[0].address: 10.244.1.2 is inside the pod network 10.244.0.0/16 of cluster shelf: what is in there is not reachable from outside; choose other networks for the cluster"},
		},
		"an endpoint inside the service network": {
			"192.0.2.10", "10.96.0.1",
			[]string{"fleet.yaml:7: spec.endpoint.host: 10.96.0.1 is inside the service network 10.96.0.0/16: machines must reach it before that network exists; choose another"},
		},
		"a disk by what it is, too early": {
			"{name: two, address: 192.0.2.12, disk: {path: /dev/sda}}", "{name: two, address: 192.0.2.12, disk: {match: disk.size > 1u}}",
			[]string{"fleet.yaml:35: spec: host two: disk.match needs Talos 1.14 or newer: give disk.path"},
		},
		"a label that a worker may not set": {
			"example.com/disk", "node-role.kubernetes.io/worker",
			[]string{`fleet.yaml:35: spec: pool layer: label "node-role.kubernetes.io/worker": a worker may not put it on its own Node, and with it none of its labels would arrive; use a name of your own, such as example.com/worker`},
		},
		"a patch that touches the identity": {
			"  config: {labels", "  config: {patches: [{machine: {token: x}}], labels",
			[]string{"fleet.yaml:35: spec: pool layer: patches[0].machine.token: "},
		},
	}
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := shelf
			if test.old != "" && !strings.Contains(text, test.old) {
				t.Fatalf("there is no %q to replace", test.old)
			}
			documents, problems := reader.Read("fleet.yaml", []byte(strings.Replace(text, test.old, test.with, 1)))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			found, err := declarations.References(documents)
			if err == nil && len(found) == 0 {
				found, err = declarations.Trials(documents)
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, problem := range found {
				line := problem.String()
				if i < len(test.want) && strings.HasSuffix(test.want[i], ": ") { // the reason is the other's to say
					line = line[:min(len(line), len(test.want[i]))]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// between is the part of a text from one mark to the end of another.
func between(text, from, to string) string {
	start := strings.Index(text, from)
	return text[start : start+strings.Index(text[start:], to)+len(to)]
}
