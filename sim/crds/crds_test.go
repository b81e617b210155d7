// SPDX-License-Identifier: Apache-2.0

package crds_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sim/crds"
)

// TestOf reads the kinds that the simulator needs, with the labels by which Cluster API knows them.
func TestOf(t *testing.T) {
	for module, want := range map[string]struct{ name, version, label string }{
		crds.Kamaji:   {"kamajicontrolplanes.controlplane.cluster.x-k8s.io", "v1alpha2", "cluster.x-k8s.io/v1beta2"},
		crds.KubeVirt: {"kubevirtclusters.infrastructure.cluster.x-k8s.io", "v1alpha1", "cluster.x-k8s.io/v1beta1"},
	} {
		version, err := crds.Version(module)
		if err != nil {
			t.Fatal(err)
		}
		found, err := crds.Of(t.Context(), module, version)
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for _, definition := range found {
			if definition.Name == want.name {
				seen = true
				if got := definition.Spec.Versions[0].Name; got != want.version || definition.Labels[want.label] != got {
					t.Errorf("%s has version %s and labels %v", want.name, got, definition.Labels)
				}
			}
		}
		if !seen {
			t.Errorf("%s is not among the definitions of %s", want.name, module)
		}
	}
}

// TestRead expects clear words about what is wrong with a folder.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"empty":                  {fstest.MapFS{}, "there are none in crd/bases"},
		"a broken kustomization": {fstest.MapFS{"crd/kustomization.yaml": {Data: []byte("a: b: c")}}, "crd/kustomization.yaml: "},
		"a broken definition":    {fstest.MapFS{"crd/bases/a.yaml": {Data: []byte("a: b: c")}}, "crd/bases/a.yaml: "},
	} {
		if _, err := crds.Read(test.files, "crd/bases"); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	plain, err := crds.Read(fstest.MapFS{"crd/bases/a.yaml": {Data: []byte("metadata: {name: a}")}}, "crd/bases")
	if err != nil || len(plain) != 1 || cmp.Diff(map[string]string(nil), plain[0].Labels) != "" {
		t.Errorf("without a kustomization: %v, %v", plain, err)
	}
}

// TestUnknown expects one line about a module that is not pinned, and one about a release that does not exist.
func TestUnknown(t *testing.T) {
	if _, err := crds.Version("example.com/none"); err == nil || !strings.Contains(err.Error(), "add it to sim/crds") {
		t.Errorf("got %v", err)
	}
	if _, err := crds.Of(t.Context(), crds.Kamaji, "none"); err == nil || !strings.HasPrefix(err.Error(), "download "+crds.Kamaji+"@none: ") {
		t.Errorf("got %v", err)
	}
}
