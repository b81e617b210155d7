// SPDX-License-Identifier: Apache-2.0

package issue

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
)

const (
	// MaxRequest is the most bytes of a request: ten times what a worker with an RSA key sends.
	MaxRequest = 32 << 10

	minRSA, maxRSA = 2048, 8192
)

// ErrSignature is a request whose signature is not that of its key: the one who sent it need not have the key.
var ErrSignature = errors.New("the request's signature does not belong to its key")

// A Request is what somebody asks for. Its signature has not been looked at: Verify does, after what is cheaper.
type Request struct {
	parsed *x509.CertificateRequest
	// CommonName, Names and Addresses are what it asks to be called.
	CommonName string
	Names      []string
	Addresses  []netip.Addr
	// Key is the kind of its key.
	Key string
}

// ParseRequest reads a request in PEM.
func ParseRequest(text []byte) (*Request, error) {
	if len(text) > MaxRequest {
		return nil, fmt.Errorf("failed to decode CSR: %d bytes are more than %d", len(text), MaxRequest)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("failed to decode CSR")
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("failed to parse CSR: %w", err)
	}
	request := &Request{parsed: parsed, CommonName: parsed.Subject.CommonName, Names: parsed.DNSNames}
	if request.Key, err = kind(parsed.PublicKey); err != nil {
		return nil, fmt.Errorf("failed to parse CSR: %w", err)
	}
	for _, ip := range parsed.IPAddresses {
		address, ok := netip.AddrFromSlice(ip)
		if !ok {
			return nil, errors.New("failed to parse CSR: an address has neither 4 nor 16 bytes")
		}
		request.Addresses = append(request.Addresses, address)
	}
	return request, nil
}

// Verify checks that whoever made the request has its key.
func (r *Request) Verify() error {
	if err := r.parsed.CheckSignature(); err != nil {
		return ErrSignature
	}
	return nil
}

// kind names the kind of a key, and refuses what Talos does not make: keys that are too weak to vouch for anything, and
// those so large that looking at one is an attack.
func kind(key any) (string, error) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return "Ed25519", nil
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256(), elliptic.P384(), elliptic.P521():
			return key.Curve.Params().Name, nil
		}
		return "", errors.New("the key's curve is not P-256, P-384 or P-521")
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return "", fmt.Errorf("an RSA key of %d bits is not between %d and %d", bits, minRSA, maxRSA)
		}
		return fmt.Sprintf("RSA %d", key.N.BitLen()), nil
	}
	return "", errors.New("the key is not Ed25519, ECDSA or RSA")
}
