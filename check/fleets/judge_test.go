// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/fleets"
	"minos.dev/minos/check/rule"
)

// TestNetworks looks at which clusters are said to share addresses, whatever the order of their networks.
func TestNetworks(t *testing.T) {
	for name, test := range map[string]struct {
		pods []string
		want []string
	}{
		"all their own":            {[]string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"}, nil},
		"all the same":             {[]string{"10.1.0.0/16", "10.1.0.0/16", "10.1.0.0/16"}, []string{"c1 c0 10.1.0.0/16", "c2 c0 10.1.0.0/16"}},
		"the second in the first":  {[]string{"10.0.0.0/8", "10.2.0.0/16"}, []string{"c1 c0 10.2.0.0/16"}},
		"the first in the second":  {[]string{"10.2.0.0/16", "10.0.0.0/8"}, []string{"c1 c0 10.2.0.0/16"}},
		"two in one, side by side": {[]string{"10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"}, []string{"c1 c0 10.1.0.0/16", "c2 c0 10.2.0.0/16"}},
		"three in each other":      {[]string{"10.1.0.0/16", "10.1.9.0/24", "10.0.0.0/8"}, []string{"c1 c0 10.1.9.0/24", "c2 c0 10.1.0.0/16"}},
		"after one that ended":     {[]string{"10.1.0.0/16", "10.1.9.0/24", "10.2.0.0/16", "10.2.9.0/24"}, []string{"c1 c0 10.1.9.0/24", "c3 c2 10.2.9.0/24"}},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for at, pods := range test.pods {
				fmt.Fprintf(&text, "---\napiVersion: minos.dev/v1alpha1\nkind: TalosCluster\nmetadata: {name: c%d}\nspec:\n  kubernetesVersion: v1.36.3\n  talosVersion: v1.13.9\n"+
					"  network: {podCIDRs: [%s], serviceCIDRs: [172.30.%d.0/24]}\n  controlPlane: {kamaji: {}}\n", at, pods, at)
			}
			all, err := facts.Read(facts.Source{Files: []*facts.File{{Path: "fleet.yaml", Text: []byte(text.String())}}})
			if err != nil || len(all.Problems) > 0 {
				t.Fatal(err, all.Problems)
			}
			var got []string
			for _, outcome := range fleets.Rules()[0].Apply(all) {
				if outcome.Verdict == rule.Failed {
					var one, other, network string
					if _, err := fmt.Sscanf(outcome.Text, "cluster %s and cluster %s both use %s", &one, &other, &network); err != nil {
						t.Fatalf("%s: %v", outcome.Text, err)
					}
					got = append(got, one+" "+other+" "+network)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
