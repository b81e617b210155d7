// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// words are a step of a removal in words.
func words(step hosted.Removal) string {
	var all []string
	for _, kind := range step.Parts {
		all = append(all, "delete "+kind.Kind.Kind)
	}
	for _, secret := range step.Secrets {
		all = append(all, "delete "+secret)
	}
	if step.Tokens {
		all = append(all, "remove tokens")
	}
	if step.Done {
		all = append(all, "done")
	}
	return strings.Join(all, ", ") + " | " + step.Condition.Message
}

func TestRemove(t *testing.T) {
	since := func(kind hosted.Kind, ago time.Duration) hosted.Part {
		return hosted.Part{Kind: kind, Deleting: noon.Add(-ago)}
	}
	fresh := func(kind hosted.Kind) hosted.Part { return hosted.Part{Kind: kind} }
	lost := outside()
	lost.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionTenantReady, Status: metav1.ConditionUnknown, LastTransitionTime: metav1.NewTime(noon.Add(-3 * time.Minute)),
	}}
	lately := outside()
	lately.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionTenantReady, Status: metav1.ConditionUnknown, LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute)),
	}}
	tests := map[string]struct {
		cluster *api.TalosCluster
		left    hosted.Remains
		want    string
	}{
		"pools hold all else": {
			shop(), hosted.Remains{Pools: []string{"web", "db"}, Parts: []hosted.Part{fresh(hosted.ClusterKind)}, Tokens: true, Secrets: []string{"a"}},
			" | NodePools db, web still belong to the cluster: delete them first",
		},
		"the Cluster first": {
			shop(), hosted.Remains{Parts: []hosted.Part{fresh(hosted.InfrastructureKind), fresh(hosted.ControlPlaneKind), fresh(hosted.ClusterKind)}, Secrets: []string{"a"}},
			"delete Cluster | Cluster shop is being deleted",
		},
		"it is waited for": {
			shop(), hosted.Remains{Parts: []hosted.Part{fresh(hosted.ControlPlaneKind), since(hosted.ClusterKind, 9*time.Minute)}},
			" | Cluster shop is being deleted",
		},
		"what it leaves behind": {
			shop(), hosted.Remains{Parts: []hosted.Part{fresh(hosted.InfrastructureKind), fresh(hosted.ControlPlaneKind)}},
			"delete KamajiControlPlane | KamajiControlPlane shop is being deleted",
		},
		"one that is stuck does not hold the next": {
			shop(), hosted.Remains{Parts: []hosted.Part{fresh(hosted.ControlPlaneKind), since(hosted.ClusterKind, 10*time.Minute)}},
			"delete KamajiControlPlane | Cluster shop is being deleted for more than 10m0s: look at its finalizers and at whoever sets them; KamajiControlPlane shop is being deleted",
		},
		"all are stuck": {
			shop(), hosted.Remains{Parts: []hosted.Part{since(hosted.InfrastructureKind, time.Hour)}, Secrets: []string{"a"}},
			" | KubevirtCluster shop is being deleted for more than 10m0s: look at its finalizers and at whoever sets them",
		},
		"Secrets last":           {shop(), hosted.Remains{Secrets: []string{"a", "b"}}, "delete a, delete b | Secrets are being removed: a, b"},
		"tokens in what stays":   {outside(), hosted.Remains{Tokens: true, Secrets: []string{"a"}}, "remove tokens | bootstrap tokens are being removed from the API server"},
		"it cannot be reached":   {lately, hosted.Remains{Tokens: true, TokensError: "refused", Secrets: []string{"a"}}, "remove tokens | bootstrap tokens are being removed from the API server: refused"},
		"nor for a long time":    {lost, hosted.Remains{Tokens: true, TokensError: "refused", Secrets: []string{"a"}}, "delete a | Secrets are being removed: a"},
		"it is tried once still": {lost, hosted.Remains{Tokens: true}, "remove tokens | bootstrap tokens are being removed from the API server"},
		"nothing is left":        {shop(), hosted.Remains{}, "done | nothing is left"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			step := hosted.Remove(test.cluster, test.left, noon)
			if diff := cmp.Diff(test.want, words(step)); diff != "" {
				t.Error(diff)
			}
			if step.Condition.Reason != api.ReasonDeleting || step.Condition.Status != metav1.ConditionFalse {
				t.Errorf("condition is %+v", step.Condition)
			}
		})
	}
}

// TestRemoveComesToAnEnd goes the whole way, with objects that take a minute each to go.
func TestRemoveComesToAnEnd(t *testing.T) {
	left := hosted.Remains{Pools: []string{"web"}, Secrets: []string{"identity"}}
	for _, kind := range hosted.Kinds() {
		left.Parts = append(left.Parts, hosted.Part{Kind: kind})
	}
	var story []string
	for minute := range 20 {
		now := noon.Add(time.Duration(minute) * time.Minute)
		step := hosted.Remove(shop(), left, now)
		story = append(story, fmt.Sprint(minute, ": ", words(step)))
		if step.Done {
			break
		}
		left.Pools = nil
		if len(step.Secrets) > 0 {
			left.Secrets = nil
		}
		left.Parts = after(left.Parts, step)
	}
	want := []string{
		"0:  | NodePools web still belong to the cluster: delete them first",
		"1: delete Cluster | Cluster shop is being deleted",
		"2: delete KamajiControlPlane | KamajiControlPlane shop is being deleted",
		"3: delete KubevirtCluster | KubevirtCluster shop is being deleted",
		"4: delete identity | Secrets are being removed: identity",
		"5: done | nothing is left",
	}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Error(diff)
	}
}

// after is what is left of parts when those of a step are gone.
func after(parts []hosted.Part, step hosted.Removal) []hosted.Part {
	var left []hosted.Part
	for _, part := range parts {
		gone := false
		for _, kind := range step.Parts {
			gone = gone || kind.Kind == part.Kind.Kind
		}
		if !gone {
			left = append(left, part)
		}
	}
	return left
}
