// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
)

const cluster = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata:
  name: shop
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  controlPlane:
    kamaji: {}
`

func newReader(t testing.TB) *load.Reader {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

func TestReadSeveralDocuments(t *testing.T) {
	text := "# a comment\n---\n" + cluster + "--- # the next\n" + strings.Replace(cluster, "shop", "forge", 1) +
		"---\napiVersion: v1\nkind: Secret\n---\n- a list\n---\n"
	documents, problems := newReader(t).Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, document := range documents {
		got = append(got, document.Object.GetNamespace()+"/"+document.Object.GetName())
	}
	if diff := cmp.Diff([]string{"default/shop", "default/forge"}, got); diff != "" {
		t.Error(diff)
	}
	if line := documents[1].LineOf("spec.talosVersion"); line != 19 {
		t.Errorf("spec.talosVersion of the second is on line 19, got %d", line)
	}
}

func TestReadFillsInDefaults(t *testing.T) {
	text := cluster + "  endpoint:\n    host: api.example.com\n"
	documents, problems := newReader(t).Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if port := documents[0].Object.(*api.TalosCluster).Spec.Endpoint.Port; port != 6443 {
		t.Errorf("port is %d, want the default", port)
	}
}

// A document that is refused must not take the others with it, and every problem is told.
func TestReadGoesOn(t *testing.T) {
	broken := strings.Replace(cluster, "talosVersion: v1.13.9", "talosVersion: latest", 1)
	documents, problems := newReader(t).Read("fleet.yaml", []byte(broken+"---\n"+cluster+"---\n"+broken))
	if len(documents) != 1 || len(problems) != 2 {
		t.Errorf("%d documents and %d problems, want 1 and 2: %v", len(documents), len(problems), problems)
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
	}{
		"a syntax error":           {cluster + "  cni: [\n", `fleet.yaml:10: this is not valid YAML: did not find expected node content`},
		"a key that is set twice":  {cluster + "  talosVersion: v1.13.8\n", `fleet.yaml:10: this is not valid YAML: key "talosVersion" already set in map`},
		"a kind that is misspelt":  {strings.Replace(cluster, "TalosCluster", "TalosClster", 1), `fleet.yaml:2: kind: "TalosClster": there is no such kind in minos.dev/v1alpha1, did you mean "TalosCluster"?`},
		"a kind of nobody":         {strings.Replace(cluster, "TalosCluster", "Turbine", 1), `fleet.yaml:2: kind: "Turbine": there is no such kind in minos.dev/v1alpha1`},
		"a group that is misspelt": {strings.Replace(cluster, "minos.dev", "minos.dve", 1), `fleet.yaml:1: apiVersion: "minos.dve/v1alpha1": did you mean minos.dev/v1alpha1?`},
		"a version from elsewhere": {strings.Replace(cluster, "v1alpha1", "v1", 1), `fleet.yaml:1: apiVersion: "minos.dev/v1": this release of Minos knows minos.dev/v1alpha1`},
		"no metadata":              {strings.Replace(cluster, "metadata:\n  name: shop\n", "", 1), `fleet.yaml:1: metadata: must be set: an object needs a name`},
		"no name":                  {strings.Replace(cluster, "  name: shop", "  namespace: x", 1), `fleet.yaml:3: metadata.name: must be set`},
		"a bad name":               {strings.Replace(cluster, "shop", "Shop", 1), `fleet.yaml:4: metadata.name: "Shop": a lowercase RFC 1123 subdomain must consist of`},
		"an unknown metadata field": {
			strings.Replace(cluster, "  name: shop", "  name: shop\n  lables: {}", 1),
			`fleet.yaml:5: metadata.lables: there is no such field, did you mean "labels"?`,
		},
		"a namespace that has no place": {
			"apiVersion: minos.dev/v1alpha1\nkind: NodeRole\nmetadata:\n  name: r\n  namespace: x\nspec:\n  extends: plain\n",
			`fleet.yaml:5: metadata.namespace: a NodeRole belongs to no namespace: remove it`,
		},
		"a secret is not repeated": {
			cluster + "  images:\n    caBundle: |\n      -----BEGIN CERTIFICATE-----\n      -----BEGIN PRIVATE KEY-----\n",
			`fleet.yaml:11: spec.images.caBundle: must be certificates in PEM and no private key`,
		},
		"a wrong type": {
			cluster + "  images: none\n",
			`fleet.yaml:10: spec.images: must be of type object, not a string`,
		},
	}
	reader := newReader(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			documents, problems := reader.Read("fleet.yaml", []byte(test.text))
			if len(documents) != 0 || len(problems) != 1 {
				t.Fatalf("%d documents and problems %v, want one problem", len(documents), problems)
			}
			if got := problems[0].String(); !strings.HasPrefix(got, test.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAliasesAndMerges(t *testing.T) {
	text := strings.Replace(cluster, "  controlPlane:", "  config:\n    patches:\n    - &p\n      machine: {}\n    - *p\n  controlPlane:", 1)
	documents, problems := newReader(t).Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	patches := documents[0].Object.(*api.TalosCluster).Spec.Config.Patches
	if len(patches) != 2 || string(patches[1].Raw) != `{"machine":{}}` {
		t.Errorf("got %s", patches)
	}
}

// FuzzRead looks for text that makes the loader panic, forget what it was given, or point outside of the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(cluster))
	examples, err := filepath.Glob("../../docs/examples/*/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	reader := newReader(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, problems := reader.Read("f.yaml", text)
		lines := strings.Count(string(text), "\n") + 1
		for _, problem := range problems {
			if problem.Line < 1 || problem.Line > lines+1 || strings.Contains(problem.Text, "\n") || problem.Text == "" {
				t.Errorf("%q in a file of %d lines", problem, lines)
			}
		}
		for _, document := range documents {
			if document.Object.GetName() == "" {
				t.Error("an object without a name was accepted")
			}
		}
	})
}
