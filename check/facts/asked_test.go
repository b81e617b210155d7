// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
)

// TestAsked finds machines by their own names and addresses, by those of their Nodes, and does not guess.
func TestAsked(t *testing.T) {
	nodes := `{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "shop-workers-1"}, "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.21"}]}}]}`
	all, err := facts.Read(facts.Source{Files: []*facts.File{
		{Path: "shop.yaml", Text: fmt.Appendf(nil, running, "shop")}, {Path: "nodes.json", Text: []byte(nodes)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	asked := all.Asked([]string{"192.0.2.21", "shop-workers-1", "192.0.2.99", "stranger"})
	if diff := cmp.Diff([]string{"192.0.2.21", "shop-workers-1"}, slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Error(diff)
	}
	for name, machine := range asked {
		if machine.Name != "shop-workers" {
			t.Errorf("%s is %s", name, machine.Name)
		}
	}
	if owners := all.Owners([]string{"192.0.2.21"}); owners["192.0.2.21"] == nil || owners["192.0.2.21"].Name != "shop" {
		t.Errorf("%v", owners)
	}
}
