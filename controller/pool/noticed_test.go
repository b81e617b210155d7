// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/virtual"
)

// TestNoticed remembers a drain that is over before anybody looks, until it is written down, and no longer.
func TestNoticed(t *testing.T) {
	var seen noticed
	machine := func(pool, grace string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		object.SetNamespace("tenants")
		object.SetName("workers-a")
		object.SetLabels(map[string]string{names.LabelPool: pool})
		if grace != "" {
			object.SetAnnotations(map[string]string{virtual.AnnotationGrace: grace})
		}
		return object
	}
	workers, others := types.NamespacedName{Namespace: "tenants", Name: "workers"}, types.NamespacedName{Namespace: "tenants", Name: "others"}
	for _, grace := range []string{"", "10:10", ""} {
		if requests := seen.watch(t.Context(), machine("workers", grace)); len(requests) != 1 || requests[0].NamespacedName != workers {
			t.Errorf("looks at %v", requests)
		}
	}
	seen.watch(t.Context(), machine("", "10:10"))
	first := seen.of(workers)
	if first["workers-a"] != "10:10" || len(seen.of(others)) > 0 || len(seen.by) != 1 {
		t.Errorf("noticed %v", seen.by)
	}
	seen.watch(t.Context(), machine("workers", "11:10"))
	seen.drop(workers, first)
	if seen.of(workers)["workers-a"] != "11:10" {
		t.Error("a newer drain was forgotten with the older one")
	}
	seen.drop(workers, seen.of(workers))
	seen.watch(t.Context(), machine("others", "11:10"))
	seen.forget(others)
	if len(seen.by) > 0 {
		t.Errorf("it remembers %v", seen.by)
	}
}
