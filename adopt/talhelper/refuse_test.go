// SPDX-License-Identifier: Apache-2.0

package talhelper_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/talhelper"
)

const small = `clusterName: small
talosVersion: v1.13.8
kubernetesVersion: v1.36.0
endpoint: https://10.0.0.10:6443
nodes:
  - hostname: a
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
`

// read reads files as a folder that has secrets.
func read(t testing.TB, files map[string]string) (*adopt.Source, error) {
	t.Helper()
	text, err := adopttest.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"talsecret.yaml": {Data: text}}
	for name, content := range files {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
		if content == "-" {
			delete(folder, name)
		}
	}
	source, _, err := talhelper.Read(&adopt.Folder{FS: folder, Decrypt: adopttest.Decrypt}, adopt.Given{})
	return source, err
}

func TestRefuses(t *testing.T) {
	with := func(old, new string) map[string]string {
		return map[string]string{"talconfig.yaml": strings.Replace(small, old, new, 1)}
	}
	node := func(lines string) map[string]string {
		return with("    installDisk: /dev/sda\n", "    installDisk: /dev/sda\n"+lines)
	}
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"no folder of talhelper":       {map[string]string{"other.yaml": "a: b"}, "there is no talconfig.yaml and no talconfig.yml in the folder"},
		"no YAML":                      {with("clusterName: small", "a: ["), "talconfig.yaml: is not a YAML mapping: line 2: did not find expected ',' or ']'"},
		"a field of another type":      {with("nodes:", "nodes: x\nother:"), "talconfig.yaml: unmarshal errors:   line 5: cannot unmarshal !!str `x` into []talhelper.node"},
		"no name":                      {with("clusterName: small\n", ""), "talconfig.yaml: clusterName: must be set"},
		"no machines":                  {map[string]string{"talconfig.yaml": small[:strings.Index(small, "nodes:")]}, "talconfig.yaml: nodes: must be set"},
		"no secrets":                   {map[string]string{"talconfig.yaml": small, "talsecret.yaml": "-"}, "there is no talsecret.sops.yaml: without it talhelper makes new secrets with every run, and there is no cluster to carry over"},
		"other secrets":                {map[string]string{"talconfig.yaml": small, "talsecret.yml": "password: x"}, "talsecret.yml: is not a bundle of Talos secrets: line 1: field password not found in type secrets.Bundle"},
		"half of the secrets":          {map[string]string{"talconfig.yaml": small, "talsecret.yml": "cluster: {id: x}"}, "talsecret.yml: is not a complete bundle: cluster, secrets, trustdinfo and certs must be there"},
		"a version of the future":      {with("v1.13.8", "v1.14.0"), "talconfig.yaml:2: talosVersion: talhelper makes configurations up to Talos 1.13, and those of a pre-release for v1.14.0: import with the last 1.13 that the machines ran, and raise talosVersion then"},
		"a version of the past":        {with("v1.13.8", "v1.7.0"), "talconfig.yaml:2: talosVersion: v1.7.0 is older than Talos 1.8, the oldest that can be imported"},
		"a version that is none":       {with("v1.13.8", "latest"), `talconfig.yaml:2: talosVersion: "vlatest" is not a Talos version`},
		"an address that is a name":    {with("10.0.0.11", "a.example.com"), `talconfig.yaml:7: nodes[0].ipAddress: "a.example.com" is not an IP address, which a MetalHost needs: write the address instead of the name`},
		"a variable that is not set":   {with("small", "${name}"), "talconfig.yaml: the variable name is not set: put it into talenv.yaml, or give it with --env"},
		"a machine without a name":     {with("hostname: a\n    ", ""), "talconfig.yaml:6: nodes[0]: hostname must be set"},
		"a patch that is not there":    {node("    patches: ['@./gone.yaml']\n"), "talconfig.yaml:10: nodes[0].patches[0]: there is no file gone.yaml"},
		"a patch that leads out":       {node("    patches: ['@../../etc/shadow']\n"), `talconfig.yaml:10: nodes[0].patches[0]: "../../etc/shadow" leads out of the folder, and nothing outside is read: import the folder that holds it`},
		"a patch that is absolute":     {node("    patches: ['@/etc/shadow']\n"), `talconfig.yaml:10: nodes[0].patches[0]: "/etc/shadow" is not a path within the folder, and nothing outside is read`},
		"a patch that is a folder":     {map[string]string{"talconfig.yaml": node("    patches: ['@./p']\n")["talconfig.yaml"], "p/x": ""}, "talconfig.yaml:10: nodes[0].patches[0]: p: is a folder, not a file"},
		"a patch with a wrong field":   {node("    patches: ['machine: {sysctl: {a: b}}']\n"), "talconfig.yaml:10: nodes[0].patches[0]: error decoding document /v1alpha1/ (line 1): unknown keys found during decoding: machine:     sysctl: {a: b} "},
		"a template that fails":        {node("    patches: ['machine: {{ .Nope }}']\n"), `talconfig.yaml:10: nodes[0].patches[0]: the template cannot be rendered: line 1:12: executing "template" at <.Nope>: can't evaluate field Nope in type *v1alpha1.Config`},
		"a function that is unknown":   {node("    nodeLabels: {a: '{{ genUUIDv4 }}'}\n"), `talconfig.yaml:10: nodes[0].nodeLabels: a: the template uses the function "genUUIDv4", which is not supported here`},
		"operations on many documents": {node("    patches: ['[{\"op\": \"remove\", \"path\": \"/machine\"}]']\n"), "talconfig.yaml:10: nodes[0].patches[0]: JSON6902 patches are not supported for multi-document machine configuration"},
		"an address that is none":      {node("    networkInterfaces: [{interface: eth0, addresses: [x]}]\n"), `talconfig.yaml:10: nodes[0].networkInterfaces: interface "eth0": "x" is not an address`},
		"variables that are no lines":  {map[string]string{"talconfig.yaml": small, "talenv.yaml": "a: b\nc-d: e\n"}, "talenv.yaml: line 2: is not NAME: value"},
		"too large a file":             {map[string]string{"talconfig.yaml": small, "talenv.yaml": strings.Repeat("# x\n", 2<<20)}, "talenv.yaml: is larger than 4 MiB"},
		"more machines than anybody":   {with("nodes:", "nodes:"+strings.Repeat("\n  - {hostname: x, ipAddress: 10.0.0.1}", 1025)), "talconfig.yaml: nodes: 1026 machines, and a folder may have 1024"},
		"a file of another format":     {map[string]string{"talconfig.yaml": node("    machineFiles: [{content: '@./a.env', path: /x, op: create}]\n")["talconfig.yaml"], "a.env": "A=ENC[x]\nsops_mac=ENC[y]\n"}, "talconfig.yaml:10: nodes[0].machineFiles: [0]: a.env: is encrypted by SOPS in a format that is not YAML, which is not supported here"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, test.files)
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

// TestStaysInside plants links that lead out of the folder: os.Root does not follow them.
func TestStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	text, err := adopttest.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret.yaml")
	config := strings.Replace(small, "    installDisk: /dev/sda\n", "    installDisk: /dev/sda\n    patches: ['@./link.yaml']\n", 1)
	for name, content := range map[string]string{
		filepath.Join(dir, "talconfig.yaml"): config, filepath.Join(dir, "talsecret.yaml"): string(text), secret: "machine: {env: {A: b}}",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, target := range map[string]string{"by a path": secret, "by dots": filepath.Join("..", filepath.Base(outside), "secret.yaml")} {
		link := filepath.Join(dir, "link.yaml")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		_, _, err := talhelper.Read(&adopt.Folder{FS: root.FS()}, adopt.Given{})
		want := "talconfig.yaml:10: nodes[0].patches[0]: link.yaml: leads out of the folder, and nothing outside is read"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDecryptFails expects what cannot be decrypted to be an error with the name of the file.
func TestDecryptFails(t *testing.T) {
	folder := fstest.MapFS{"talconfig.yaml": {Data: []byte(small)}, "talsecret.sops.yaml": {Data: []byte("x")}}
	_, _, err := talhelper.Read(&adopt.Folder{FS: folder, Decrypt: func(text []byte) ([]byte, bool, error) {
		if string(text) == "x" {
			return nil, false, errors.New("no key")
		}
		return text, false, nil
	}}, adopt.Given{})
	if err == nil || err.Error() != "talsecret.sops.yaml: no key" {
		t.Errorf("got %v", err)
	}
}

// TestOverrides follows the flags by which a node does without what its group has.
func TestOverrides(t *testing.T) {
	source, err := read(t, map[string]string{"talconfig.yaml": small + `    certSANs: [own]
    overridePatches: true
    patches: []
    overrideMachineCertSANs: true
    nodeLabels: {}
  - hostname: b
    ipAddress: 10.0.0.12
    controlPlane: true
    installDisk: /dev/sda
    certSANs: [own]
controlPlane:
  certSANs: [group]
  nodeLabels: {x: y}
  patches: ['machine: {sysctls: {a: b}}']
`})
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, machine := range source.Machines {
		fields := machine.Config.Document("")["machine"].(map[string]any)
		got = append(got, fields["certSANs"], fields["sysctls"], fields["nodeLabels"])
	}
	want := []any{[]any{"own"}, nil, nil, []any{"own", "group"}, map[string]any{"a": "b"}, map[string]any{"x": "y"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNamesWhatIsLeft imports what cannot be carried over, and expects each thing to be named.
func TestNamesWhatIsLeft(t *testing.T) {
	text, err := adopttest.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(small, "10.0.0.11", "10.0.0.11, 10.0.0.12", 1) + `    talosImageURL: registry.example.com/installer
    imageSchematic: {customization: {extraKernelArgs: [a]}}
    filenameTmpl: x
    patches: ['{machine: {token: x, type: worker}, cluster: {ca: {crt: eA==}, network: {podSubnets: [10.9.0.0/16]}}}']
    machineSpec: {bootMethod: pxe}
imageFactory: {schematicEndpoint: /x}
`
	source, err := read(t, map[string]string{
		"talconfig.yaml": config,
		"talsecret.yaml": strings.Replace(string(text), "secrets:\n", "secrets:\n    aescbcencryptionsecret: older-secret\n", 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := adopt.Convert(source, adopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, remark := range append(result.Left, result.Notes...) {
		got = append(got, remark.String())
	}
	for _, difference := range result.Proof.Differences {
		got = append(got, difference.Path+": "+difference.Why)
	}
	want := []string{
		"talconfig.yaml:11: nodes[0].imageSchematic: is for boot media alone: Minos makes them from the role",
		"talconfig.yaml:7: nodes[0].ipAddress: a MetalHost has one address: 10.0.0.11 is used, and 10.0.0.12 is not",
		"talsecret.yaml: secrets.aescbcencryptionsecret: cluster.aescbcEncryptionSecret: tokens are made by Minos and cannot be patched: rotate them instead",
		"talconfig.yaml:13: nodes[0].patches[0]: cluster.ca: certificate authorities are made by Minos and cannot be patched: rotate them instead",
		"talconfig.yaml:13: nodes[0].patches[0]: machine.token: tokens are made by Minos and cannot be patched: rotate them instead",
		"talconfig.yaml:6: nodes[0]: the installer image is not one of an image factory, so that its extensions are not known: the installer image stands as a patch, to be changed by hand with every upgrade",
		"talconfig.yaml:12: nodes[0].filenameTmpl: what it says of files and boot media is not needed",
		"talconfig.yaml:14: nodes[0].machineSpec: what it says of files and boot media is not needed",
		"talconfig.yaml:15: imageFactory: what it says of files and boot media is not needed",
		"cluster.aescbcEncryptionSecret: tokens are made by Minos and cannot be patched: rotate them instead",
		"cluster.ca.crt: certificate authorities are made by Minos and cannot be patched: rotate them instead",
		"cluster.ca.key: certificate authorities are made by Minos and cannot be patched: rotate them instead",
		"machine.token: tokens are made by Minos and cannot be patched: rotate them instead",
		"machine.type: the machine type comes from the role: set spec.machineType of the NodeRole",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
