// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// TestUnusedRevisions leaves what a machine has, or is to have, whatever else happens to it.
func TestUnusedRevisions(t *testing.T) {
	has := func(wanted, given string) api.TalosMachine {
		one := api.TalosMachine{Spec: api.TalosMachineSpec{Revision: api.Name(wanted)}}
		if given != "" {
			one.Annotations = map[string]string{machines.AnnotationRevision: given}
		}
		return one
	}
	ending, kept := has("w-5", "w-5"), has("w-6", "w-6")
	ending.DeletionTimestamp = &metav1.Time{}
	kept.Annotations[machines.AnnotationKept] = "it failed"
	all := []api.TalosMachine{has("w-2", ""), has("w-4", "w-3"), ending, kept}
	got := machines.UnusedRevisions([]string{"w-7", "w-6", "w-5", "w-4", "w-3", "w-2", "w-1"}, all)
	if diff := cmp.Diff([]string{"w-1", "w-7"}, got); diff != "" {
		t.Error(diff)
	}
	if got := machines.UnusedRevisions([]string{"w-1"}, nil); !cmp.Equal(got, []string{"w-1"}) {
		t.Errorf("without machines %v is unused", got)
	}
}
