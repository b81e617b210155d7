// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// life is how long a certificate and the authority that signed it live. It is replaced after two thirds.
const life = 90 * 24 * time.Hour

// A Pair is what the webhook serves with, and whom its callers have to trust. All of it is PEM.
type Pair struct {
	Certificate, Key []byte
	// Authorities are the one that signed it, and the one before as long as somebody may still serve with its certificate.
	Authorities []byte
}

// makePair makes a pair for names and addresses. The authority's key is thrown away: it signs this once.
func makePair(names []string, before []byte, now time.Time) (Pair, error) {
	authority, authorityKey, err := makeAuthority(now)
	if err != nil {
		return Pair{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), authorityKey)
	if err != nil {
		return Pair{}, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: block("CERTIFICATE", signed), Key: block("PRIVATE KEY", encoded),
		Authorities: append(block("CERTIFICATE", authority.Raw), before...),
	}, nil
}

// makeAuthority makes an authority for one certificate.
func makeAuthority(now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "minos admission"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(raw)
	return made, key, err
}

// newest is the first authority of a bundle: the others are older.
func newest(bundle []byte) []byte {
	found, _ := pem.Decode(bundle)
	if found == nil {
		return nil
	}
	return pem.EncodeToMemory(found)
}

// due says why a pair has to be replaced; empty if it has not.
func (p Pair) due(names []string, now time.Time) (string, error) {
	pair, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return "", fmt.Errorf("the webhook's certificate cannot be read: %w", err)
	}
	if len(bytes.TrimSpace(p.Authorities)) == 0 {
		return "", errors.New("the webhook's certificate has no authority beside it")
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if leaf.VerifyHostname(name) != nil {
			return "it is not for " + name, nil
		}
	}
	if now.After(leaf.NotAfter.Add(-life / 3)) {
		return "it ends on " + leaf.NotAfter.Format(time.DateOnly), nil
	}
	return "", nil
}

func block(kind string, content []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
}
