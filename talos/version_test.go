// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"errors"
	"testing"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

func TestSupports(t *testing.T) {
	tests := map[string]struct {
		talos      api.TalosVersion
		kubernetes api.KubernetesVersion
		want       string
	}{
		"the newest that it runs":                 {"v1.13.9", "v1.36.3", ""},
		"the oldest that it runs":                 {"v1.13.9", "v1.31.0", ""},
		"a pre-release of a version that it runs": {"v1.14.1", "v1.37.0-rc.1", ""},
		"one too new":                             {"v1.13.9", "v1.37.0", "Talos v1.13.9 does not run Kubernetes v1.37.0: it runs 1.31 to 1.36"},
		"one too old":                             {"v1.14.1", "v1.31.9", "Talos v1.14.1 does not run Kubernetes v1.31.9: it runs 1.32 to 1.37"},
		"a Talos from the future":                 {"v1.99.0", "v1.36.0", "Talos v1.99.0 is not known to this release of Minos: choose a version that it knows, or upgrade Minos"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := talos.Supports(test.talos, test.kubernetes)
			if test.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			unsupported, ok := errors.AsType[*talos.UnsupportedError](err)
			if !ok {
				t.Fatalf("got %v, want an UnsupportedError", err)
			}
			if got := unsupported.Error(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSupportsRefusesWhatIsNoVersion(t *testing.T) {
	if err := talos.Supports("newest", "v1.36.0"); err == nil {
		t.Error("a Talos version that is none was accepted")
	}
	if err := talos.Supports("v1.13.9", "newest"); err == nil {
		t.Error("a Kubernetes version that is none was accepted")
	}
}
