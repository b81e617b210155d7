// SPDX-License-Identifier: Apache-2.0

package issue_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/trusttest"
)

func block(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestParseKey(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		return block(t, "PRIVATE KEY", der, err)
	}
	sec1 := func(key *ecdsa.PrivateKey) string {
		der, err := x509.MarshalECPrivateKey(key)
		return block(t, "EC PRIVATE KEY", der, err)
	}
	tests := map[string]struct{ text, want string }{
		"Talos's Ed25519":       {string(trusttest.NewCA(t, trusttest.Ed25519, moment).KeyPEM), ""},
		"Talos's ECDSA":         {string(trusttest.NewCA(t, trusttest.ECDSA, moment).KeyPEM), ""},
		"Talos's RSA":           {string(trusttest.NewCA(t, trusttest.RSA, moment).KeyPEM), ""},
		"openssl's Ed25519":     {pkcs8(edKey(t)), ""},
		"openssl's ECDSA":       {block(t, "EC PARAMETERS", []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}, nil) + sec1(ec), ""},
		"cert-manager's RSA":    {pkcs8(large), ""},
		"nothing":               {"", "has no private key in PEM"},
		"a certificate":         {string(trusttest.NewCA(t, trusttest.Ed25519, moment).CrtPEM), "has no private key in PEM"},
		"an encrypted key":      {block(t, "ENCRYPTED PRIVATE KEY", []byte{1}, nil), `is a "ENCRYPTED PRIVATE KEY": decrypt it, or write it as PKCS #8`},
		"a key of another kind": {block(t, "OPENSSH PRIVATE KEY", []byte{1}, nil), `is a "OPENSSH PRIVATE KEY": decrypt it, or write it as PKCS #8`},
		"garbage":               {block(t, "PRIVATE KEY", []byte("secret"), nil), `its "PRIVATE KEY" cannot be read: write the key again`},
		"a weak key":            {sec1(weak), "the key's curve is not P-256, P-384 or P-521"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := issue.ParseKey([]byte(test.text))
			if text := errorText(err); text != test.want {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestNewAuthority(t *testing.T) {
	old, fresh := trusttest.NewCA(t, trusttest.Ed25519, moment), trusttest.NewCA(t, trusttest.ECDSA, moment)
	key, err := issue.ParseKey(fresh.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	leaf, leafKey := old.Serving(t, moment, "api")
	noAuthority, err := issue.ParseKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	both := []*x509.Certificate{old.Crt, fresh.Crt}
	if found, err := issue.NewAuthority(both, key, moment); err != nil || !found.Certificate.Equal(fresh.Crt) {
		t.Errorf("%v", err)
	}
	for want, make := range map[string]func() error{
		"the key belongs to none of the certificates": func() error {
			_, err := issue.NewAuthority([]*x509.Certificate{old.Crt}, key, moment)
			return err
		},
		"the authority expired at 2036-11-12": func() error {
			_, err := issue.NewAuthority(both, key, moment.Add(20*365*24*time.Hour))
			return err
		},
		"the authority is valid from 2026-11-15T11:00:00Z: is the clock right?": func() error {
			_, err := issue.NewAuthority(both, key, moment.Add(-2*time.Hour))
			return err
		},
		"the certificate of the key is not that of an authority": func() error {
			_, err := issue.NewAuthority([]*x509.Certificate{trusttest.Leaf(t, leaf)}, noAuthority, moment)
			return err
		},
	} {
		if err := make(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestParseCertificatesRefuses(t *testing.T) {
	ca := trusttest.NewCA(t, trusttest.Ed25519, moment)
	for text, want := range map[string]string{
		"":                                    "has no certificate in PEM",
		string(ca.CrtPEM) + string(ca.KeyPEM): `has a block "ED25519 PRIVATE KEY": only certificates belong there`,
		block(t, "CERTIFICATE", []byte("no"), nil): "certificate 1: ",
	} {
		if _, err := issue.ParseCertificates([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
