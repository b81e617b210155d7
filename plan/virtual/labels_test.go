// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/plan/virtual"
)

// TestDressings is which Nodes get which labels.
func TestDressings(t *testing.T) {
	machine := func(name, node, given string) unstructured.Unstructured {
		made := unstructured.Unstructured{Object: map[string]any{}}
		made.SetName(name)
		if node != "" {
			made.Object["status"] = map[string]any{"nodeRef": map[string]any{"name": node}}
		}
		if given != "" {
			made.SetAnnotations(map[string]string{virtual.AnnotationLabels: given})
		}
		return made
	}
	leaves := machine("leaves", "e", "old=1")
	now := metav1.Now()
	leaves.SetDeletionTimestamp(&now)
	live := virtual.Live{Machines: []unstructured.Unstructured{
		machine("joins", "", ""), machine("new", "a", ""), machine("same", "b", "x=1,y=2"), machine("other", "c", "old=1,x=3"), leaves,
	}}
	want := []virtual.Dressing{
		{Machine: "new", Node: "a", Labels: map[string]any{"x": "1", "y": "2"}, Given: "x=1,y=2"},
		{Machine: "other", Node: "c", Labels: map[string]any{"old": nil, "x": "1", "y": "2"}, Given: "x=1,y=2"},
	}
	if diff := cmp.Diff(want, live.Dressings(map[string]string{"y": "2", "x": "1"})); diff != "" {
		t.Error(diff)
	}
	if got := live.Dressings(nil); len(got) != 2 || got[0].Given != "" || !cmp.Equal(got[1].Labels, map[string]any{"old": nil, "x": nil}) {
		t.Errorf("no labels any more: %+v", got)
	}
}
