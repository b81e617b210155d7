// SPDX-License-Identifier: Apache-2.0

// Package trusttest is what tests of the signer share: authorities as Talos makes them, workers that ask with Talos's own
// client, and folders that change as Kubernetes changes them.
package trusttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	stdx509 "crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// The kinds of authorities that Talos knows.
const (
	Ed25519 = "Ed25519"
	ECDSA   = "ECDSA"
	RSA     = "RSA"
)

// Token is a token of the form that Talos makes.
const Token = "abcdef.0123456789abcdef"

// A CA is an authority in the form of Talos's own.
type CA struct{ *x509.CertificateAuthority }

// NewCA makes an authority with Talos's own code. It is valid from an hour before now for ten years.
func NewCA(tb testing.TB, kind string, now time.Time) CA {
	tb.Helper()
	options := []x509.Option{
		x509.Organization("talos"), x509.NotBefore(now.Add(-time.Hour)), x509.NotAfter(now.Add(10 * 365 * 24 * time.Hour)),
		x509.IPAddresses(nil), // or it would list those of this machine
	}
	switch kind {
	case ECDSA:
		options = append(options, x509.ECDSA(true))
	case RSA:
		options = append(options, x509.RSA(true), x509.Bits(2048)) // Talos makes 4096, which takes seconds
	}
	ca, err := x509.NewSelfSignedCertificateAuthority(options...)
	if err != nil {
		tb.Fatal(err)
	}
	return CA{ca}
}

// Pool is the authority as one who trusts it has it.
func (ca CA) Pool() *stdx509.CertPool {
	pool := stdx509.NewCertPool()
	pool.AddCert(ca.Crt)
	return pool
}

// Accepted is the authorities as a worker's configuration has them.
func Accepted(cas ...CA) []*x509.PEMEncodedCertificate {
	var found []*x509.PEMEncodedCertificate
	for _, ca := range cas {
		found = append(found, &x509.PEMEncodedCertificate{Crt: ca.CrtPEM})
	}
	return found
}

// Serving makes a serving certificate and its key in PEM, as cert-manager would, for a day from an hour before now.
func (ca CA) Serving(tb testing.TB, now time.Time, names ...string) (certificate, key []byte) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &stdx509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(23 * time.Hour),
		KeyUsage: stdx509.KeyUsageDigitalSignature, ExtKeyUsage: []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := stdx509.CreateCertificate(rand.Reader, template, ca.Crt, private.Public(), ca.Key)
	if err != nil {
		tb.Fatal(err)
	}
	keyDER, err := stdx509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// Leaf reads the first certificate of a PEM text.
func Leaf(tb testing.TB, text []byte) *stdx509.Certificate {
	tb.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		block = &pem.Block{} // which is no certificate either
	}
	certificate, err := stdx509.ParseCertificate(block.Bytes)
	if err != nil {
		tb.Fatal(err)
	}
	return certificate
}

// Trusting is the TLS settings of a client that trusts the authorities, as a worker's are.
func Trusting(cas ...CA) *tls.Config {
	roots := stdx509.NewCertPool()
	for _, ca := range cas {
		roots.AddCert(ca.Crt)
	}
	return &tls.Config{RootCAs: roots}
}
