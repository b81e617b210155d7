// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// TestMoments tells what people hear when a cluster goes from one state to another.
func TestMoments(t *testing.T) {
	with := func(all ...metav1.Condition) api.TalosClusterStatus { return api.TalosClusterStatus{Conditions: all} }
	secrets, plane, trust, inside := api.ConditionSecretsReady, api.ConditionControlPlaneReady, api.ConditionTrustReady, api.ConditionTenantReady
	yes, no := hosted.Yes, hosted.No
	fresh := with(no(plane, api.ReasonProgressing, "it is being made"), no(trust, api.ReasonWaiting, "the control plane"), no(inside, api.ReasonWaiting, "the kubeconfig"))
	ready := with(yes(secrets, "there"), yes(plane, "v1.35.2 answers"), yes(trust, "the signer answers"), yes(inside, "tokens are there"), yes(api.ConditionPoolsReady, "1 of 1"))
	tests := map[string]struct {
		before, after api.TalosClusterStatus
		want          []hosted.Moment
	}{
		"nothing happened":              {ready, ready, nil},
		"words only":                    {ready, with(yes(plane, "v1.35.2 answers elsewhere")), nil},
		"it has just been declared":     {with(), fresh, nil},
		"its secrets come with it":      {with(), with(yes(secrets, "there")), nil},
		"pools are told of by pools":    {ready, with(no(api.ConditionPoolsReady, api.ReasonProgressing, "0 of 1"), no(api.ConditionReady, api.ReasonFailed, "x")), nil},
		"it waits for kinds":            {with(), with(no(plane, api.ReasonWaiting, "install Kamaji")), []hosted.Moment{{Reason: "ControlPlaneNotReady", Message: "install Kamaji"}}},
		"it becomes ready":              {fresh, ready, []hosted.Moment{{Reason: "ControlPlaneReady", Message: "v1.35.2 answers"}, {Reason: "SignerReady", Message: "the signer answers"}, {Reason: "TenantReady", Message: "tokens are there"}}},
		"its control plane fails":       {ready, with(no(plane, api.ReasonFailed, "it does not serve")), []hosted.Moment{{Warning: true, Reason: "ControlPlaneNotReady", Message: "it does not serve"}}},
		"its control plane is upgraded": {ready, with(no(plane, api.ReasonProgressing, "v1.36.0")), nil},
		"its spec is wrong":             {ready, with(no(plane, api.ReasonInvalid, "networks overlap")), []hosted.Moment{{Warning: true, Reason: "ControlPlaneNotReady", Message: "networks overlap"}}},
		"its signer is silent":          {ready, with(no(trust, api.ReasonFailed, "no answer")), []hosted.Moment{{Warning: true, Reason: "SignerNotReady", Message: "no answer"}}},
		"its API server is silent":      {ready, with(no(inside, api.ReasonUnreadable, "no answer")), []hosted.Moment{{Warning: true, Reason: "TenantUnreachable", Message: "no answer"}}},
		"it stays silent":               {with(no(inside, api.ReasonUnreadable, "no answer")), with(no(inside, api.ReasonUnreadable, "still no answer")), nil},
		"it is back":                    {with(no(inside, api.ReasonUnreadable, "no answer")), with(yes(inside, "there")), []hosted.Moment{{Reason: "TenantReachable", Message: "there"}}},
		"it refuses":                    {ready, with(no(inside, api.ReasonFailed, "forbidden")), []hosted.Moment{{Warning: true, Reason: "TenantNotReady", Message: "forbidden"}}},
		"its identity is gone":          {ready, with(no(secrets, api.ReasonNotFound, "restore it")), []hosted.Moment{{Warning: true, Reason: "SecretsNotReady", Message: "restore it"}}},
		"its identity is restored":      {with(no(secrets, api.ReasonNotFound, "restore it")), with(yes(secrets, "there")), []hosted.Moment{{Reason: "SecretsReady", Message: "there"}}},
		"it is being deleted":           {ready, with(no(plane, api.ReasonDeleting, "pools a, b")), []hosted.Moment{{Reason: "Deleting", Message: "pools a, b"}}},
		"a step of that":                {with(no(plane, api.ReasonDeleting, "pools a, b")), with(no(plane, api.ReasonDeleting, "pools b")), []hosted.Moment{{Reason: "Deleting", Message: "pools b"}}},
		"a step of that takes too long": {
			with(no(plane, api.ReasonDeleting, "pools b")), with(no(plane, api.ReasonDeleting, "Cluster shop is being deleted for more than 10m0s: look")),
			[]hosted.Moment{{Warning: true, Reason: "Deleting", Message: "Cluster shop is being deleted for more than 10m0s: look"}},
		},
		"no step of that":        {with(no(plane, api.ReasonDeleting, "pools a, b")), with(no(plane, api.ReasonDeleting, "pools a, b")), nil},
		"another version runs":   {api.TalosClusterStatus{KubernetesVersion: "v1.35.2"}, api.TalosClusterStatus{KubernetesVersion: "v1.36.0"}, []hosted.Moment{{Reason: "Upgraded", Message: "the control plane runs v1.36.0, and ran v1.35.2 before"}}},
		"the first version runs": {api.TalosClusterStatus{}, api.TalosClusterStatus{KubernetesVersion: "v1.36.0"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, hosted.Moments(test.before, test.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
