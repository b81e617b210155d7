// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"time"
)

// An authority can sign.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func ensureAuthority(at Pair, name string, now time.Time) (authority, error) {
	cert, key, err := readPair(at)
	if err != nil {
		return authority{}, err
	}
	if cert != nil {
		return authority{cert, key}, fit(at, cert, key, now)
	}
	if key == nil {
		if key, err = makeKey(at.Key); err != nil {
			return authority{}, err
		}
	}
	template := authorityTemplate(name, now)
	cert, err = sign(template, authority{template, key}, key.Public())
	if err != nil {
		return authority{}, fmt.Errorf("sign %s: %w", at.Cert, err)
	}
	return authority{cert, key}, writeCert(at.Cert, cert)
}

// fit tells what is wrong with an authority that is there. It is never made anew: that would orphan what it signed.
func fit(at Pair, cert *x509.Certificate, key crypto.Signer, now time.Time) error {
	switch {
	case key == nil:
		return fmt.Errorf("%s is missing although %s exists; restore it, or remove both", at.Key, at.Cert)
	case !matches(cert, key):
		return fmt.Errorf("%s is not the key of %s; restore the right one, or remove both", at.Key, at.Cert)
	case !now.Before(cert.NotAfter):
		return fmt.Errorf("%s expired on %s; remove it and its key", at.Cert, cert.NotAfter.Format(time.DateOnly))
	default:
		return nil
	}
}

func authorityTemplate(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
}

func ensureLeaf(want leaf, by authority, now time.Time) error {
	cert, key, err := readPair(want.pair)
	if err != nil {
		return err
	}
	if cert != nil && key != nil && serves(cert, want, now) && matches(cert, key) && cert.CheckSignatureFrom(by.cert) == nil {
		return nil
	}
	if key == nil {
		if key, err = makeKey(want.pair.Key); err != nil {
			return err
		}
	}
	cert, err = sign(leafTemplate(want, by, now), by, key.Public())
	if err != nil {
		return fmt.Errorf("sign %s: %w", want.pair.Cert, err)
	}
	return writeCert(want.pair.Cert, cert)
}

// leafTemplate never outlives the authority: a certificate whose signer has expired is worth nothing.
func leafTemplate(want leaf, by authority, now time.Time) *x509.Certificate {
	end := now.Add(leafLife)
	if end.After(by.cert.NotAfter) {
		end = by.cert.NotAfter
	}
	return &x509.Certificate{
		Subject:               want.subject,
		NotBefore:             now.Add(-backdate),
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           want.usages,
		BasicConstraintsValid: true,
		DNSNames:              want.dns,
		IPAddresses:           want.ips,
	}
}

// serves tells whether a certificate can still be used for what is wanted. Names it has beyond those do no harm, so two
// runs with different names do not take turns in making it anew.
func serves(cert *x509.Certificate, want leaf, now time.Time) bool {
	if now.Before(cert.NotBefore) || now.Add(renewBefore).After(cert.NotAfter) {
		return false
	}
	for _, name := range want.dns {
		if !slices.Contains(cert.DNSNames, name) {
			return false
		}
	}
	for _, ip := range want.ips {
		if !slices.ContainsFunc(cert.IPAddresses, ip.Equal) {
			return false
		}
	}
	return true
}

func matches(cert *x509.Certificate, key crypto.Signer) bool {
	public, ok := cert.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(key.Public())
}

func ensureServiceAccountKey(path string) error {
	key, err := readKey(path)
	if err != nil || key != nil {
		return err
	}
	// RSA, because tokens signed with it are understood by everything that checks them.
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return writeKey(path, made)
}

func makeKey(path string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return key, writeKey(path, key)
}

func sign(template *x509.Certificate, by authority, public crypto.PublicKey) (*x509.Certificate, error) {
	// A nil serial number has CreateCertificate choose a random one.
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, public, by.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
