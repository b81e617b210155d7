// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
)

// rack is a cluster with a pool, as an API server would have it.
const rack = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: tenant, uid: "1", resourceVersion: "7", generation: 2}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  network: {podCIDRs: [10.60.0.0/16], serviceCIDRs: [10.61.0.0/16]}
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house}
spec: {kubevirt: {namespaces: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: general, namespace: tenant}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house}
  replicas: 1
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
`

// objects reads objects.
func objects(t *testing.T, text string) []load.Object {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := reader.Read("objects.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var all []load.Object
	for _, document := range documents {
		all = append(all, document.Object)
	}
	return all
}

// TestChange has rules judge what a change brings, and not what was there before.
func TestChange(t *testing.T) {
	graphics := strings.Replace(rack, "role: plain", "role: gpu-nvidia", 1)
	own := strings.Replace(rack, "role: plain", "role: own", 1) + `---
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata: {name: own}
spec: {extends: plain, extensions: [siderolabs/iscsi-tools]}
`
	misspelt := strings.Replace(own, "iscsi-tools", "iscsi-tolls", 1)
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":                    {before: rack, after: rack},
		"what is made, and is right": {after: rack},
		"what is made, and is wrong": {after: graphics, want: []string{"EXT-005", "ROL-012", "ROL-013"}},
		"a pool goes wrong":          {before: rack, after: graphics, want: []string{"EXT-005", "ROL-012", "ROL-013"}},
		"it was wrong before":        {before: graphics, after: strings.Replace(graphics, "replicas: 1", "replicas: 2", 1)},
		"it is put right":            {before: graphics, after: rack},
		"a role goes wrong":          {before: own, after: misspelt, want: []string{"CFG-004", "EXT-001"}},
		"a step that is too large":   {before: strings.NewReplacer("v1.13.9", "v1.12.6", "v1.36.3", "v1.34.0").Replace(rack), after: rack, want: []string{"UPG-005"}},
	} {
		var change check.Change
		change.Now = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
		if test.before != "" {
			change.Before = objects(t, test.before)
		}
		change.After = objects(t, test.after)
		brought, err := change.Brings(rule.Error)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, finding := range brought {
			got = append(got, finding.Rule)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
