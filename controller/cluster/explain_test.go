// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"strings"
	"testing"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// TestExplain has a provider whose kind lacks the field for the signer's port, as older releases do: it is said what to install. Any
// other error stays as it is.
func TestExplain(t *testing.T) {
	lacking := errors.New("failed to create typed patch object: .spec.network.additionalServicePorts: field not declared in schema")
	found, ok := errors.AsType[*verdict](explain(lacking, "v1alpha1"))
	if !ok || found.reason != api.ReasonInvalid {
		t.Fatalf("it is %v", explain(lacking, "v1alpha1"))
	}
	for _, words := range []string{"KamajiControlPlane v1alpha1", "install " + hosted.ControlPlaneKind.Install, "additionalServicePorts"} {
		if !strings.Contains(found.Error(), words) {
			t.Errorf("it does not say %q: %v", words, found)
		}
	}
	if other := explain(errors.New("the API server is away"), "v1alpha2"); strings.Contains(other.Error(), "install") {
		t.Errorf("it says what to install: %v", other)
	}
}
