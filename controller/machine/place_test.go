// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/sim/kubetest"
)

// TestPlaces finds places for those who may use them, and never a Location of another namespace.
func TestPlaces(t *testing.T) {
	c, own, other := kubetest.Client(t), kubetest.Namespace(t), kubetest.Namespace(t)
	sim := func(selector *api.NamespaceSelector) api.LocationSpec {
		return api.LocationSpec{Sim: &api.SimLocation{Place: api.Place{Namespaces: selector}}}
	}
	only := &api.NamespaceSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": own}}
	for _, object := range []client.Object{
		&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "mine"}, Spec: sim(nil)},
		&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "metal"}, Spec: api.LocationSpec{Metal: &api.MetalLocation{}}},
		&api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: own + "-closed"}, Spec: sim(nil)},
		&api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: own + "-only"}, Spec: sim(only)},
		&api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: own + "-open"}, Spec: sim(&api.NamespaceSelector{})},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.Background(), object) })
	}
	places := machine.Places{api.MemberSim: func(context.Context, machine.Location) (backend.Place, error) { return nil, nil }}
	tests := map[string]struct {
		namespace string
		kind      api.LocationKind
		name      string
		want      string
	}{
		"its own":                     {own, api.KindLocation, "mine", ""},
		"another's":                   {other, api.KindLocation, "mine", api.ReasonNotFound},
		"a kind that is not served":   {own, api.KindLocation, "metal", api.ReasonInvalid},
		"a kind that does not exist":  {own, "Secret", "mine", api.ReasonInvalid},
		"open to nobody":              {own, api.KindClusterLocation, own + "-closed", api.ReasonDenied},
		"open to one":                 {own, api.KindClusterLocation, own + "-only", ""},
		"open to one, asked by other": {other, api.KindClusterLocation, own + "-only", api.ReasonDenied},
		"open to all":                 {other, api.KindClusterLocation, own + "-open", ""},
		"one that does not exist":     {own, api.KindClusterLocation, own + "-none", api.ReasonNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, location, err := places.Find(t.Context(), c, test.namespace, api.LocationReference{Kind: test.kind, Name: api.Name(test.name)})
			if err == nil {
				err = machine.Admit(t.Context(), c, test.namespace, location)
			}
			reason := ""
			if refusal, ok := errors.AsType[*machine.Refusal](err); ok {
				reason = refusal.Reason
			}
			if reason != test.want || (err == nil) != (test.want == "") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
