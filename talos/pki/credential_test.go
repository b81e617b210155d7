// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"k8s.io/client-go/tools/clientcmd"

	"minos.dev/minos/talos/pki"
)

var admins = role.MakeSet(role.Admin)

// A proof is what a server gets to see, and what the client signs with.
type proof struct{ authorities, crt, key []byte }

// verify holds a client certificate to authorities at a time, as a server does.
func (p proof) verify(t *testing.T, at time.Time) *x509.Certificate {
	t.Helper()
	if _, err := tls.X509KeyPair(p.crt, p.key); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(p.crt)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(p.authorities) {
		t.Fatal("no authority")
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	return certificate
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestTalosconfig(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	now := born.Add(time.Hour)
	text, err := s.Talosconfig(pki.TalosAccess{
		Cluster: "shop", Endpoints: []string{"192.0.2.1", "192.0.2.2"}, Nodes: []string{"192.0.2.3"},
		Roles: []string{"os:reader", "os:etcd:backup"}, Validity: pki.Validity{Now: now, For: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientconfig.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	context := config.Contexts["shop"]
	if config.Context != "shop" || context == nil {
		t.Fatalf("got %s", text)
	}
	if diff := cmp.Diff([][]string{{"192.0.2.1", "192.0.2.2"}, {"192.0.2.3"}}, [][]string{context.Endpoints, context.Nodes}); diff != "" {
		t.Error(diff)
	}
	// Read back, and written by Talos itself, it is the same.
	if again, err := config.Bytes(); err != nil || string(again) != string(text) {
		t.Errorf("%v %s", err, cmp.Diff(string(again), string(text)))
	}
	certificate := proof{decoded(t, context.CA), decoded(t, context.Crt), decoded(t, context.Key)}.verify(t, now)
	slices.Sort(certificate.Subject.Organization)
	if diff := cmp.Diff([]string{"os:etcd:backup", "os:reader"}, certificate.Subject.Organization); diff != "" {
		t.Error(diff)
	}
	if want := now.Add(time.Hour); !certificate.NotAfter.Equal(want) || !certificate.NotBefore.Equal(now.Add(-5*time.Minute)) {
		t.Errorf("valid from %s to %s", certificate.NotBefore, certificate.NotAfter)
	}
	if certificate.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Errorf("usage %v", certificate.KeyUsage)
	}
}

func TestKubeconfig(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	tests := map[string]struct {
		access     pki.KubeAccess
		wantUser   string
		wantGroups []string
	}{
		"an admin":  {pki.KubeAccess{}, "admin", []string{"system:masters"}},
		"a visitor": {pki.KubeAccess{User: "jo", Groups: []string{"viewers", "night"}}, "jo", []string{"night", "viewers"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			access := test.access
			access.Cluster, access.Server, access.Validity = "shop", "https://192.0.2.1:6443", pki.Validity{Now: born, For: 10 * time.Minute}
			text, err := s.Kubeconfig(access)
			if err != nil {
				t.Fatal(err)
			}
			config, err := clientcmd.RESTConfigFromKubeConfig(text)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := clientcmd.Load(text)
			if err != nil || raw.CurrentContext != "shop" || raw.Contexts["shop"] == nil || config.Host != "https://192.0.2.1:6443" {
				t.Errorf("%v: %s", err, text)
			}
			certificate := proof{config.CAData, config.CertData, config.KeyData}.verify(t, born.Add(9*time.Minute))
			slices.Sort(certificate.Subject.Organization)
			if certificate.Subject.CommonName != test.wantUser {
				t.Errorf("user %s", certificate.Subject.CommonName)
			}
			if diff := cmp.Diff(test.wantGroups, certificate.Subject.Organization); diff != "" {
				t.Error(diff)
			}
			// Not before the authority, although the clock of a server may be behind.
			if !certificate.NotBefore.Equal(born) || !certificate.NotAfter.Equal(born.Add(10*time.Minute)) {
				t.Errorf("valid from %s to %s", certificate.NotBefore, certificate.NotAfter)
			}
		})
	}
}

func TestCredentialsRefuse(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	hour := pki.Validity{Now: born, For: time.Hour}
	tests := map[string]struct {
		make func() ([]byte, error)
		want string
	}{
		"too short": {func() ([]byte, error) {
			return s.Kubeconfig(pki.KubeAccess{Server: "x", Validity: pki.Validity{Now: born, For: 24 * time.Second}})
		}, "a validity of 24s is too short: it is 1m0s at least"},
		"negative": {func() ([]byte, error) {
			return s.Talosconfig(pki.TalosAccess{Endpoints: []string{"x"}, Validity: pki.Validity{Now: born, For: -time.Hour}})
		}, "a validity of -1h0m0s is too short: it is 1m0s at least"},
		"longer than its authority": {func() ([]byte, error) {
			return s.Talosconfig(pki.TalosAccess{Endpoints: []string{"x"}, Validity: pki.Validity{Now: born, For: 11 * 365 * 24 * time.Hour}})
		}, "a validity of 96360h0m0s is too long: certs.os, which signs it, is valid until 2035-12-31T03:04:05Z"},
		"an expired authority": {func() ([]byte, error) {
			return s.Kubeconfig(pki.KubeAccess{Server: "x", Validity: pki.Validity{Now: born.AddDate(20, 0, 0), For: time.Hour}})
		}, "certs.k8s expired on 2035-12-31T03:04:05Z"},
		"an authority of tomorrow": {func() ([]byte, error) {
			return s.Kubeconfig(pki.KubeAccess{Server: "x", Validity: pki.Validity{Now: born.AddDate(0, 0, -1), For: time.Hour}})
		}, "certs.k8s is not valid before 2026-01-02T03:04:05Z: is the clock right?"},
		"no endpoint": {func() ([]byte, error) { return s.Talosconfig(pki.TalosAccess{Validity: hour}) }, "a talosconfig needs an endpoint: the address of a control plane machine"},
		"no server":   {func() ([]byte, error) { return s.Kubeconfig(pki.KubeAccess{Validity: hour}) }, "a kubeconfig needs the address of the API server"},
		"unknown role": {func() ([]byte, error) {
			return s.Talosconfig(pki.TalosAccess{Endpoints: []string{"x"}, Roles: []string{"os:amdin"}, Validity: hour})
		}, `there is no role "os:amdin" of Talos: the known ones are os:admin, os:etcd:backup, os:image:verifier, os:impersonator, os:meta:writer, os:operator, os:reader`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.make()
			if err == nil || err.Error() != test.want || got != nil {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}
