// SPDX-License-Identifier: Apache-2.0

package issue_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/trusttest"
)

var moment = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func authority(tb testing.TB, ca trusttest.CA) issue.Authority {
	tb.Helper()
	key, err := issue.ParseKey(ca.KeyPEM)
	if err != nil {
		tb.Fatal(err)
	}
	certificates, err := issue.ParseCertificates(ca.CrtPEM)
	if err != nil {
		tb.Fatal(err)
	}
	authority, err := issue.NewAuthority(certificates, key, moment)
	if err != nil {
		tb.Fatal(err)
	}
	return authority
}

func edKey(tb testing.TB) ed25519.PrivateKey {
	tb.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// greedy asks for everything that must not be had: rights, an authority, usages, other names.
func greedy(tb testing.TB, key any) []byte {
	tb.Helper()
	return trusttest.Sign(tb, &x509.CertificateRequest{
		Subject: pkix.Name{
			CommonName: "w1", Organization: []string{"os:admin"}, OrganizationalUnit: []string{"ou"}, Country: []string{"GR"}, SerialNumber: "1",
			ExtraNames: []pkix.AttributeTypeAndValue{{Type: []int{2, 5, 4, 10}, Value: "os:operator"}},
		},
		DNSNames: []string{"w1"}, EmailAddresses: []string{"root@example.com"},
		ExtraExtensions: []pkix.Extension{
			{Id: []int{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 0x03, 0x01, 0x01, 0xff}},                           // CA: true
			{Id: []int{2, 5, 29, 15}, Critical: true, Value: []byte{0x03, 0x02, 0x01, 0x06}},                                 // certSign, crlSign
			{Id: []int{2, 5, 29, 37}, Value: []byte{0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02}}, // clientAuth
			{Id: []int{1, 2, 3, 4}, Critical: true, Value: []byte{0x05, 0x00}},                                               // nobody knows
			{Id: []int{2, 5, 29, 30}, Critical: true, Value: []byte{0x30, 0x06, 0xa0, 0x04, 0x30, 0x02, 0x82, 0x00}},         // name constraints
			{Id: []int{2, 5, 29, 35}, Value: []byte{0x30, 0x06, 0x80, 0x04, 0x01, 0x02, 0x03, 0x04}},                         // another issuer
		},
	}, key)
}

func TestIssue(t *testing.T) {
	names := issue.Names{CommonName: "w1", Names: []string{"w1"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.1.7"), netip.MustParseAddr("fd00::7"), netip.MustParseAddr("::ffff:10.0.1.8")}}
	for _, kind := range []string{trusttest.Ed25519, trusttest.ECDSA, trusttest.RSA} {
		t.Run(kind, func(t *testing.T) {
			ca := trusttest.NewCA(t, kind, moment)
			key := edKey(t)
			request, err := issue.ParseRequest(greedy(t, key))
			if err != nil {
				t.Fatal(err)
			}
			if err := request.Verify(); err != nil {
				t.Fatal(err)
			}
			issued, err := authority(t, ca).Issue(request, names, moment, 24*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			got := trusttest.Leaf(t, issued.PEM)
			want := map[string]any{
				"subject": "CN=w1", "issuer": "O=talos", "from": moment, "to": moment.Add(24 * time.Hour),
				"usage": x509.KeyUsageDigitalSignature, "extended": []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
				"names": []string{"w1"}, "addresses": []string{"10.0.1.7", "fd00::7", "10.0.1.8"},
				"authority": ca.Crt.SubjectKeyId, "key": key.Public(), "isCA": false, "constraints": false,
				"others": 0,
			}
			var texts []string
			for _, ip := range got.IPAddresses {
				texts = append(texts, ip.String())
			}
			found := map[string]any{
				"subject": got.Subject.String(), "issuer": got.Issuer.String(), "from": got.NotBefore, "to": got.NotAfter,
				"usage": got.KeyUsage, "extended": got.ExtKeyUsage,
				"names": got.DNSNames, "addresses": texts,
				"authority": got.AuthorityKeyId, "key": got.PublicKey, "isCA": got.IsCA, "constraints": got.BasicConstraintsValid,
				"others": len(got.EmailAddresses) + len(got.URIs) + len(got.UnknownExtKeyUsage) + len(got.UnhandledCriticalExtensions),
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
			if len(got.Extensions) != 4 { // usage, extended usage, names, key of the authority
				t.Errorf("extensions: %v", got.Extensions)
			}
			if issued.Serial != fmt.Sprintf("%032x", got.SerialNumber) || got.SerialNumber.BitLen() < 90 || got.SerialNumber.BitLen() > 128 {
				t.Errorf("serial %s is %x", issued.Serial, got.SerialNumber)
			}
			if _, err := got.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: "w1", CurrentTime: moment}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestIssueEndsWithItsAuthority(t *testing.T) {
	authority := authority(t, trusttest.NewCA(t, trusttest.Ed25519, moment))
	request, err := issue.ParseRequest(greedy(t, edKey(t)))
	if err != nil {
		t.Fatal(err)
	}
	end := authority.Certificate.NotAfter
	issued, err := authority.Issue(request, issue.Names{CommonName: "w1"}, end.Add(-time.Hour), 24*time.Hour)
	if err != nil || !issued.NotAfter.Equal(end) {
		t.Errorf("ends %s, %v", issued.NotAfter, err)
	}
	if _, err := authority.Issue(request, issue.Names{CommonName: "w1"}, end.Add(time.Second), 24*time.Hour); !errors.Is(err, issue.ErrExpired) {
		t.Error(err)
	}
}

func TestParseRequestRefuses(t *testing.T) {
	good := greedy(t, edKey(t))
	block, _ := pem.Decode(good)
	wrongType := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text []byte
		want string
	}{
		"nothing":            {nil, "failed to decode CSR"},
		"no PEM":             {[]byte("hello"), "failed to decode CSR"},
		"another block":      {wrongType, "failed to decode CSR"},
		"garbage in PEM":     {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("garbage")}), "failed to parse CSR: asn1"},
		"cut":                {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: block.Bytes[:100]}), "failed to parse CSR: asn1"},
		"too large":          {append(good, make([]byte, issue.MaxRequest)...), "failed to decode CSR: "},
		"a weak curve":       {greedy(t, p224), "failed to parse CSR: the key's curve is not P-256, P-384 or P-521"},
		"a weak RSA key":     {rsaRequest(t, 1024), "failed to parse CSR: an RSA key of 1024 bits is not between 2048 and 8192"},
		"an RSA key as bomb": {rsaRequest(t, 65536), "failed to parse CSR: an RSA key of 65536 bits is not between 2048 and 8192"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := issue.ParseRequest(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// rsaRequest is a request with a key that nobody has: a modulus of so many bits.
func rsaRequest(t *testing.T, bits int) []byte {
	t.Helper()
	key := &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), bits-1, 1), E: 65537}
	return trusttest.WithKey(t, greedy(t, edKey(t)), key)
}

func TestVerifyRefuses(t *testing.T) {
	stolen := trusttest.WithKey(t, greedy(t, edKey(t)), edKey(t).Public())
	request, err := issue.ParseRequest(stolen)
	if err != nil {
		t.Fatal(err)
	}
	if err := request.Verify(); !errors.Is(err, issue.ErrSignature) {
		t.Error(err)
	}
}

func TestServe(t *testing.T) {
	for kind, want := range map[string]x509.PublicKeyAlgorithm{
		trusttest.Ed25519: x509.Ed25519, trusttest.ECDSA: x509.ECDSA, trusttest.RSA: x509.ECDSA,
	} {
		ca := trusttest.NewCA(t, kind, moment)
		serving, err := authority(t, ca).Serve(issue.Names{CommonName: "api", Names: []string{"api"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.5")}}, moment, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if serving.Leaf.PublicKeyAlgorithm != want {
			t.Errorf("%s: %s", kind, serving.Leaf.PublicKeyAlgorithm)
		}
		for _, name := range []string{"api", "10.0.0.5"} {
			options := x509.VerifyOptions{Roots: ca.Pool(), DNSName: name, CurrentTime: moment.Add(-time.Minute)}
			if _, err := serving.Leaf.Verify(options); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := authority(t, trusttest.NewCA(t, trusttest.Ed25519, moment)).Serve(issue.Names{}, moment, time.Hour); err == nil {
		t.Error("a certificate for nobody")
	}
}

// FuzzCSR looks for a request that breaks the signer, or that gets more than the profile.
func FuzzCSR(f *testing.F) {
	block, _ := pem.Decode(greedy(f, edKey(f)))
	f.Add(block.Bytes)
	f.Add(block.Bytes[:50])
	f.Add([]byte{0x30, 0x80})
	ca := authority(f, trusttest.NewCA(f, trusttest.Ed25519, moment))
	f.Fuzz(func(t *testing.T, der []byte) {
		request, err := issue.ParseRequest(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
		if err != nil {
			return
		}
		_ = request.Verify() // must not break; what follows is stricter without it
		issued, err := ca.Issue(request, issue.Names{CommonName: request.CommonName, Names: request.Names, Addresses: request.Addresses}, moment, time.Hour)
		if err != nil {
			return
		}
		got := trusttest.Leaf(t, issued.PEM)
		if got.IsCA || got.BasicConstraintsValid || got.KeyUsage != x509.KeyUsageDigitalSignature || len(got.Subject.Organization) > 0 ||
			len(got.ExtKeyUsage) != 1 || got.ExtKeyUsage[0] != x509.ExtKeyUsageServerAuth || len(got.UnknownExtKeyUsage) > 0 {
			t.Errorf("more than the profile: %+v", got)
		}
	})
}
