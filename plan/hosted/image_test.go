// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"testing"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// TestSignerImage lets a cluster choose a release of the signer, and nothing else to run.
func TestSignerImage(t *testing.T) {
	const operators = "registry.example.com:5000/minos/minos-signer:v1"
	for name, test := range map[string]struct{ cluster, operators, want string }{
		"none":                         {"", operators, operators},
		"another tag":                  {"registry.example.com:5000/minos/minos-signer:v2", operators, "registry.example.com:5000/minos/minos-signer:v2"},
		"a digest":                     {"registry.example.com:5000/minos/minos-signer@sha256:01", operators, "registry.example.com:5000/minos/minos-signer@sha256:01"},
		"a tag and a digest":           {"registry.example.com:5000/minos/minos-signer:v2@sha256:01", operators, "registry.example.com:5000/minos/minos-signer:v2@sha256:01"},
		"another name":                 {"registry.example.com:5000/minos/shell:v1", operators, ""},
		"another registry":             {"registry.example.com/minos/minos-signer:v1", operators, ""},
		"a name that begins like it":   {"registry.example.com:5000/minos/minos-signer-evil:v1", operators, ""},
		"a path below it":              {"registry.example.com:5000/minos/minos-signer/evil:v1", operators, ""},
		"a registry that begins alike": {"registry.example.com:5000.evil.example.com/minos/minos-signer:v1", operators, ""},
		"nobody has one":               {"", "", ""},
	} {
		cluster := shop()
		cluster.Spec.Images = &api.Images{Signer: test.cluster}
		got, err := hosted.SignerImage(cluster, test.operators)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestDataStore offers data stores by name, and none without being told.
func TestDataStore(t *testing.T) {
	cluster := shop()
	cluster.Spec.ControlPlane.Kamaji.DataStoreName = "gold"
	for annotation, want := range map[string]bool{"": false, "gold": true, "silver, gold": true, "golden": false, "silver": false} {
		err := hosted.DataStore(cluster, map[string]string{hosted.AnnotationDataStores: annotation})
		if (err == nil) != want {
			t.Errorf("%q: %v", annotation, err)
		}
	}
}
