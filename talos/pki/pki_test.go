// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/talos/pki"
)

var born = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// made are secrets by contract: making the keys takes longer than all the rest.
var made = map[string]*pki.Secrets{}

// fresh makes secrets, and copies them so that a test may change its own.
func fresh(t testing.TB, contract *talosconfig.VersionContract) *pki.Secrets {
	t.Helper()
	if made[contract.String()] == nil {
		s, err := pki.New(contract, born)
		if err != nil {
			t.Fatal(err)
		}
		made[contract.String()] = s
	}
	return parse(t, marshal(t, made[contract.String()]))
}

func marshal(t testing.TB, s *pki.Secrets) string {
	t.Helper()
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t testing.TB, text string) *pki.Secrets {
	t.Helper()
	s, err := pki.Parse([]byte(text), pki.NeedAll)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFormOfTalos holds the form to that of Talos's own type, which is what talosctl writes.
func TestFormOfTalos(t *testing.T) {
	for _, contract := range []*talosconfig.VersionContract{talosconfig.TalosVersion1_2, talosconfig.TalosVersion1_13, talosconfig.TalosVersion1_14} {
		t.Run(contract.String(), func(t *testing.T) {
			s := fresh(t, contract)
			want, err := yaml.Marshal(s.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), marshal(t, s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := s.Bundle.Validate(contract); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTalosPassesOverOurs loads a bundle in the middle of a rotation with Talos's own loader.
func TestTalosPassesOverOurs(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	change, err := s.Rotate(pki.PartTalosCA, pki.StepAccept, talosconfig.TalosVersion1_14, born)
	if err != nil {
		t.Fatal(err)
	}
	text := marshal(t, change.Secrets)
	if !strings.Contains(text, "\nminos:\n") {
		t.Fatalf("no rotation in:\n%s", text)
	}
	file := filepath.Join(t.TempDir(), "secrets.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := secrets.LoadBundle(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(talosconfig.TalosVersion1_14); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(loaded.Certs.OS.Crt, s.Bundle.Certs.OS.Crt) {
		t.Error("the authority is another one")
	}
}

// TestReadsTalhelper reads what talhelper makes.
func TestReadsTalhelper(t *testing.T) {
	path, err := filepath.Abs("../../bin/peers/talhelper")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make peers", err)
	}
	text, err := exec.CommandContext(t.Context(), path, "gensecret").Output()
	if err != nil {
		t.Fatal(err)
	}
	read, err := pki.Parse(text, pki.NeedAll)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(marshal(t, read)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("something was lost (-want +got):\n%s", diff)
	}
}

// TestIdentity reads what a cluster is born with whose control plane is hosted: its own authority with the key, and none of
// Kubernetes yet.
func TestIdentity(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	certs := s.Bundle.Certs
	certs.Etcd, certs.K8s, certs.K8sAggregator, certs.K8sServiceAccount = nil, nil, nil, nil
	s.Bundle.Secrets.SecretboxEncryptionSecret = ""
	text := marshal(t, s)
	if _, err := pki.Parse([]byte(text), pki.NeedIdentity); err != nil {
		t.Error(err)
	}
	if _, err := pki.Parse([]byte(text), pki.NeedWorkers); err == nil || err.Error() != "certs.k8s.crt is missing" {
		t.Errorf("workers can do without: %v", err)
	}
	certs.OS.Key = nil
	if _, err := pki.Parse([]byte(marshal(t, s)), pki.NeedIdentity); err == nil || err.Error() != "certs.os.key is missing" {
		t.Errorf("it can do without its key: %v", err)
	}
}

// TestHosted reads what workers of a hosted control plane need, and renders one with it.
func TestHosted(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	certs := s.Bundle.Certs
	certs.Etcd, certs.K8sAggregator, certs.K8sServiceAccount = nil, nil, nil
	certs.K8s.Key, certs.OS.Key, s.Bundle.Secrets.SecretboxEncryptionSecret = nil, nil, ""
	text := marshal(t, s)
	if _, err := pki.Parse([]byte(text), pki.NeedAll); err == nil || err.Error() != "certs.etcd.crt is missing" {
		t.Errorf("got %v", err)
	}
	read, err := pki.Parse([]byte(text), pki.NeedWorkers)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.CheckTime(born); err != nil {
		t.Error(err)
	}
	for _, contract := range []*talosconfig.VersionContract{talosconfig.TalosVersion1_13, talosconfig.TalosVersion1_14} {
		input, err := generate.NewInput("shop", "https://192.0.2.1:6443", "1.35.2",
			generate.WithVersionContract(contract), generate.WithSecretsBundle(read.Bundle))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := input.Config(machine.TypeWorker); err != nil {
			t.Error(err)
		}
	}
	for _, item := range read.Describe(true) {
		if item.Name == "certs.os.key" {
			t.Error("a key that is not there is listed")
		}
	}
	if _, err := read.Talosconfig(pki.TalosAccess{Cluster: "shop", Endpoints: []string{"x"}, Validity: pki.Validity{Now: born, For: time.Hour}}); err == nil ||
		err.Error() != "certs.os.key is not here, and without it nothing can be signed" {
		t.Errorf("got %v", err)
	}
	if _, err := read.Rotate(pki.PartTalosCA, pki.StepAccept, talosconfig.TalosVersion1_14, born); err == nil ||
		err.Error() != "ca-talos: its key is not here: whoever has it replaces it" {
		t.Errorf("got %v", err)
	}
}

func TestNewNeedsATime(t *testing.T) {
	if _, err := pki.New(talosconfig.TalosVersion1_14, time.Time{}); err == nil {
		t.Error("it looked at the clock")
	}
}

func TestParseRefuses(t *testing.T) {
	whole := marshal(t, fresh(t, talosconfig.TalosVersion1_14))
	other, err := secrets.NewTalosCA(born)
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(s *pki.Secrets)) string {
		s := parse(t, whole)
		edit(s)
		return marshal(t, s)
	}
	line := func(name, with string) string {
		var lines []string
		for line := range strings.Lines(whole) {
			if strings.HasPrefix(strings.TrimSpace(line), name+":") {
				line = line[:strings.Index(line, name)] + with + "\n"
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "")
	}
	leaf, err := secrets.NewAdminCertificateAndKey(born, parse(t, whole).Bundle.Certs.OS, admins, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ text, want string }{
		"nothing":                 {"", "is empty, and should be a secrets bundle of Talos"},
		"a word":                  {"hello", "line 1: is of another shape than in a secrets bundle of Talos"},
		"no YAML":                 {"a: [", "yaml: line 1: did not find expected node content"},
		"two documents":           {whole + "---\n" + whole, "has more than one document, and secrets are one"},
		"an unknown part":         {whole + "more: 1\n", `line 24: a secrets bundle of Talos has no "more"`},
		"an unknown part in it":   {strings.Replace(whole, "    token:", "    other: 1\n    token:", 1), `line 8: a secrets bundle of Talos has no "other"`},
		"JSON of another tool":    {`{"Cluster": {"Id": "x"}}`, `line 1: a secrets bundle of Talos has no "Cluster"`},
		"a list for a text":       {line("bootstraptoken", "bootstraptoken: [s3cret]"), "line 5: is of another shape than in a secrets bundle of Talos"},
		"no identity":             {line("id", `id: ""`), "cluster.id is missing"},
		"a short cluster secret":  {line("secret", "secret: c2hvcnQ="), "cluster.secret is not 32 bytes in base64"},
		"no token":                {strings.Replace(whole, "trustdinfo:\n    token:", "trustdinfo:\n    token: \"\" #", 1), "trustdinfo.token is missing"},
		"a bootstrap token":       {line("bootstraptoken", "bootstraptoken: secret"), "secrets.bootstraptoken is not of the form abcdef.0123456789abcdef"},
		"no encryption secret":    {change(func(s *pki.Secrets) { s.Bundle.Secrets.SecretboxEncryptionSecret = "" }), "secrets.secretboxencryptionsecret is missing"},
		"two encryption secrets":  {change(func(s *pki.Secrets) { s.Bundle.Secrets.AESCBCEncryptionSecret = "x" }), "secrets.secretboxencryptionsecret and secrets.aescbcencryptionsecret are both there: one is too many"},
		"a bad encryption secret": {change(func(s *pki.Secrets) { s.Bundle.Secrets.SecretboxEncryptionSecret = "c2hvcnQ=" }), "the encryption secret in secrets is not 32 bytes in base64"},
		"no authority":            {change(func(s *pki.Secrets) { s.Bundle.Certs.K8s = nil }), "certs.k8s.crt is missing"},
		"an empty authority":      {change(func(s *pki.Secrets) { s.Bundle.Certs.Etcd.Crt = nil }), "certs.etcd.crt is missing"},
		"an authority, no key":    {change(func(s *pki.Secrets) { s.Bundle.Certs.K8sAggregator.Key = nil }), "certs.k8saggregator.key is missing"},
		"no certificate":          {change(func(s *pki.Secrets) { s.Bundle.Certs.OS.Crt = []byte("x") }), "certs.os.crt is no certificate: failed to parse PEM block"},
		"a certificate, no CA":    {change(func(s *pki.Secrets) { s.Bundle.Certs.OS.Crt = leaf.Crt }), "certs.os.crt is a certificate, and not that of an authority"},
		"no private key":          {change(func(s *pki.Secrets) { s.Bundle.Certs.OS.Key = []byte("x") }), "certs.os.key is no private key: failed to parse PEM block"},
		"another's key":           {change(func(s *pki.Secrets) { s.Bundle.Certs.OS.Key = other.KeyPEM }), "certs.os.key does not belong to certs.os.crt"},
		"another kind of key":     {change(func(s *pki.Secrets) { s.Bundle.Certs.K8s.Key = other.KeyPEM }), "certs.k8s.key does not belong to certs.k8s.crt"},
		"no service account":      {change(func(s *pki.Secrets) { s.Bundle.Certs.K8sServiceAccount = nil }), "certs.k8sserviceaccount.key is missing"},
		"a bad service account":   {change(func(s *pki.Secrets) { s.Bundle.Certs.K8sServiceAccount.Key = []byte("x") }), "certs.k8sserviceaccount.key is no private key: failed to parse PEM block"},
		"no base64":               {line("crt", "crt: '-----BEGIN'"), "certs.etcd.crt is not base64"},
		"a redacted key":          {line("key", "key: '******'"), "certs.etcd.key is redacted: take it from where it was not"},
		"an unknown rotation":     {whole + "minos: {rotation: [{part: x}]}\n", `minos.rotation[0].part: there is no rotation of "x"`},
		"an unknown step":         {whole + "minos: {rotation: [{part: ca-talos, step: x}]}\n", `minos.rotation[0].step: "x" is neither accept nor issue`},
		"a rotation without keys": {whole + "minos: {rotation: [{part: ca-talos, step: accept}]}\n", "minos.rotation[0].key is missing"},
		"a broken rotation":       {whole + "minos: {rotation: [{part: ca-talos, step: issue, public: eA==}]}\n", "minos.rotation[0].public is no certificate: failed to parse PEM block"},
		"a broken public key":     {whole + "minos: {rotation: [{part: serviceaccount, step: issue, public: eA==}]}\n", "minos.rotation[0].public is no public key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := pki.Parse([]byte(test.text), pki.NeedAll)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the error shows a value")
			}
		})
	}
}

func TestCheckTime(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	tests := map[string]struct {
		now  time.Time
		want string
	}{
		"at birth":   {born, ""},
		"in between": {born.AddDate(5, 0, 0), ""},
		"too early":  {born.Add(-time.Second), "certs.etcd is not valid before 2026-01-02T03:04:05Z: is the clock right?"},
		"too late":   {born.AddDate(10, 0, 1), "certs.etcd expired on 2035-12-31T03:04:05Z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := s.CheckTime(test.now); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
