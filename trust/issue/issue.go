// SPDX-License-Identifier: Apache-2.0

package issue

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"
)

// ErrExpired is an authority that has expired since it was loaded.
var ErrExpired = errors.New("the signer's authority has expired")

// Names are what a certificate says whose it is.
type Names struct {
	CommonName string
	Names      []string
	Addresses  []netip.Addr
}

// An Issued certificate, and what is worth writing down of it.
type Issued struct {
	PEM      []byte
	Serial   string
	NotAfter time.Time
}

// Issue signs a request under the names that were granted to it.
func (a Authority) Issue(request *Request, names Names, now time.Time, validity time.Duration) (Issued, error) {
	if now.After(a.Certificate.NotAfter) {
		return Issued{}, ErrExpired
	}
	template, err := profile(names, now, earlier(now.Add(validity), a.Certificate.NotAfter))
	if err != nil {
		return Issued{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, request.parsed.PublicKey, a.Key)
	if err != nil {
		return Issued{}, fmt.Errorf("sign: %w", err)
	}
	return Issued{
		PEM:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Serial:   fmt.Sprintf("%032x", template.SerialNumber),
		NotAfter: template.NotAfter.UTC().Truncate(time.Second), // as the certificate says it
	}, nil
}

// profile is what every certificate of ours is: for one server, for a day, and no authority.
func profile(names Names, now, end time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// The common name alone: apid reads a client's rights from the organization.
		Subject:   pkix.Name{CommonName: names.CommonName},
		NotBefore: now,
		NotAfter:  end,
		// A certificate that could also speak for a client would let one machine administer another.
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names.Names,
	}
	for _, address := range names.Addresses {
		template.IPAddresses = append(template.IPAddresses, net.IP(address.AsSlice()))
	}
	return template, nil
}

// skew is how far a worker's clock may be behind ours. Workers read the serving certificate the moment that it is made,
// and some before their clock is right.
const skew = 5 * time.Minute

// Serve makes a certificate for the signer itself, with a key that never leaves its memory.
func (a Authority) Serve(names Names, now time.Time, validity time.Duration) (*tls.Certificate, error) {
	if len(names.Names)+len(names.Addresses) == 0 {
		return nil, errors.New("a serving certificate wants names or addresses")
	}
	key, err := a.servingKey()
	if err != nil {
		return nil, fmt.Errorf("make a serving key: %w", err)
	}
	template, err := profile(names, now.Add(-skew), earlier(now.Add(validity), a.Certificate.NotAfter))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, key.Public(), a.Key)
	if err != nil {
		return nil, fmt.Errorf("sign the serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// servingKey is of the authority's kind where that is quick, as with trustd; RSA would cost every handshake a hundredfold.
func (a Authority) servingKey() (crypto.Signer, error) {
	if _, ok := a.Key.Public().(ed25519.PublicKey); ok {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// earlier is the earlier of two times: a certificate does not outlive the one that vouches for it.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
