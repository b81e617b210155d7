// SPDX-License-Identifier: Apache-2.0

package topf_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/topf"
)

const small = `clusterName: small
clusterEndpoint: https://10.0.0.10:6443
kubernetesVersion: 1.35.1
talosVersion: 1.13.8
nodes:
  - host: a
    ip: 10.0.0.11
    role: control-plane
`

// read reads files as a folder that has secrets.
func read(t testing.TB, files map[string]string, env map[string]string) (*adopt.Source, error) {
	t.Helper()
	text, err := adopttest.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"secrets.yaml": {Data: text}}
	for name, content := range files {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
		if content == "-" {
			delete(folder, name)
		}
	}
	source, _, err := topf.Read(&adopt.Folder{FS: folder}, adopt.Given{Env: env})
	return source, err
}

func TestRefuses(t *testing.T) {
	with := func(old, new string) map[string]string {
		return map[string]string{"topf.yaml": strings.Replace(small, old, new, 1)}
	}
	file := func(name, text string) map[string]string { return map[string]string{"topf.yaml": small, name: text} }
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"no folder of topf":             {map[string]string{"other.yaml": "a: b"}, "there is no topf.yaml in the folder"},
		"no YAML":                       {with("clusterName: small", "a: ["), "topf.yaml: is not a YAML mapping: line 2: did not find expected ',' or ']'"},
		"no endpoint":                   {with("clusterEndpoint: https://10.0.0.10:6443\n", ""), "topf.yaml: clusterEndpoint: must be set"},
		"no version":                    {with("talosVersion: 1.13.8\n", ""), "topf.yaml: talosVersion: is not set, and what topf takes then depends on its own version: set it to the version that the machines run"},
		"a version of the past":         {with("talosVersion: 1.13.8", "talosVersion: 1.6.0"), `topf.yaml:4: talosVersion: "1.6.0" is not a version of Talos since 1.8`},
		"the old word":                  {with("nodes:", "configDir: x\nnodes:"), "topf.yaml:5: configDir: topf refuses it since 0.4: call it patchesDir"},
		"no secrets":                    {map[string]string{"topf.yaml": small, "secrets.yaml": "-"}, "there is no secrets.yaml: without it there is no cluster to carry over"},
		"secrets elsewhere":             {with("nodes:", "secretsPath: ../secrets.yaml\nnodes:"), `topf.yaml:5: secretsPath: "../secrets.yaml" leads out of the folder, and nothing outside is read: import the folder that holds it`},
		"patches elsewhere":             {with("nodes:", "patchesDir: ../patches\nnodes:"), `topf.yaml:5: patchesDir: "../patches" leads out of the folder, and nothing outside is read`},
		"a role that is none":           {with("control-plane", "controller"), `topf.yaml:6: nodes[0]: role "controller" is not control-plane or worker`},
		"a host that is a path":         {with("host: a", "host: ../a"), `topf.yaml:6: nodes[0]: host "../a" is not the name of a machine`},
		"no address":                    {with("    ip: 10.0.0.11\n", ""), "topf.yaml:6: nodes[0].ip: must be an IP address, which a MetalHost needs: write the address that a has"},
		"a schematic that is not there": {with("nodes:", "schematicId: '@gone.yaml'\nnodes:"), "topf.yaml: schematicId: gone.yaml: file does not exist"},
		"a schematic that is none":      {map[string]string{"topf.yaml": with("nodes:", "schematicId: '@s.yaml'\nnodes:")["topf.yaml"], "s.yaml": "a: b"}, "s.yaml: construct errors: line 1: field a not found in type schematic.Schematic"},
		"operations":                    {file("all/1.yaml", "- op: remove\n  path: /a\n"), "all/1.yaml: line 1: is not a mapping of configuration fields"},
		"data that are not there":       {file("all/1.yaml.tpl", "a: {{ .Data.b }}"), `all/1.yaml.tpl: for a: the template cannot be rendered: line 1:11: executing "template" at <.Data.b>: map has no entry for key "b"`},
		"a variable that is not given":  {file("all/1.yaml.tpl", `a: {{ env "B" }}`), `all/1.yaml.tpl: for a: the template cannot be rendered: line 1:6: executing "template" at <env "B">: error calling env: the variable B was not given`},
		"a field that is not there":     {file("node/a/1.yaml", "machine: {sysctl: {a: b}}"), "node/a/1.yaml: for a: error decoding document /v1alpha1/ (line 1): unknown keys found during decoding: machine:     sysctl: {\"a\": \"b\"} "},
		"a document that is not there":  {file("all/1.yaml", "apiVersion: v1alpha1\nkind: Nothing"), `all/1.yaml: for a: error decoding document v1alpha1/Nothing/ (line 1): "Nothing" "v1alpha1": not registered`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, test.files, nil)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestOrder follows the order in which topf applies patches, and what it takes for one.
func TestOrder(t *testing.T) {
	files := map[string]string{"topf.yaml": small, "node/a/1.yaml": "machine: {sysctls: {order: node}}"}
	for name, value := range map[string]string{
		"all/20-b.yaml": "b", "all/10-a.yml": "a", "all/sub/deep.yaml": "deep", "all/30.yaml.off": "off", "all/notes.txt": "x",
		"control-plane/1.yaml": "role", "worker/1.yaml": "not for it", "node/b/1.yaml": "not for it",
	} {
		files[name] = "machine: {certSANs: [" + value + "], sysctls: {order: '" + value + "'}}"
	}
	files["all/40.yaml.tpl"] = "---\n---\nmachine:\n  certSANs: ['{{ .Node.Host }}', '{{ env \"GIVEN\" }}', '{{ .Node.RuntimeData.TalosVersion }}']\n"
	source, err := read(t, files, map[string]string{"GIVEN": "given"})
	if err != nil {
		t.Fatal(err)
	}
	machine := source.Machines[0].Config.Document("")["machine"].(map[string]any)
	want := []any{"a", "b", "off", "a", "given", "1.13.8", "deep", "role"}
	if diff := cmp.Diff(want, machine["certSANs"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"order": "node"}, machine["sysctls"]); diff != "" {
		t.Error(diff)
	}
}
