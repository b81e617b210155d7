// SPDX-License-Identifier: Apache-2.0

package issue

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// An Authority is a certificate that may vouch for others, and its key.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// ParseCertificates reads every certificate of a PEM file. Other blocks are refused: a key among certificates that are
// handed to everybody is a mistake to hear of.
func ParseCertificates(text []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("has a block %q: only certificates belong there", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(found)+1, err)
		}
		found = append(found, certificate)
	}
	if len(found) == 0 {
		return nil, errors.New("has no certificate in PEM")
	}
	return found, nil
}

// ParseKey reads a private key in any of the forms that Talos and others write. Errors say nothing of what was read.
func ParseKey(text []byte) (crypto.Signer, error) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("has no private key in PEM")
		}
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue // openssl writes the parameters of a curve before the key
		}
		return parseKey(block)
	}
}

func parseKey(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "ED25519 PRIVATE KEY", "PRIVATE KEY": // Talos writes PKCS #8 under a name of its own
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("is a %q: decrypt it, or write it as PKCS #8", block.Type)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, fmt.Errorf("its %q cannot be read: write the key again", block.Type)
	}
	if _, err := kind(signer.Public()); err != nil {
		return nil, err
	}
	return signer, nil
}

// NewAuthority finds the certificate of a key among several: while authorities change, files hold both.
func NewAuthority(certificates []*x509.Certificate, key crypto.Signer, now time.Time) (Authority, error) {
	for _, certificate := range certificates {
		if !isKeyOf(key, certificate) {
			continue
		}
		switch {
		case !MayVouch(certificate):
			return Authority{}, errors.New("the certificate of the key is not that of an authority: it may not sign certificates")
		case now.After(certificate.NotAfter):
			return Authority{}, fmt.Errorf("the authority expired at %s: make a new one and rotate", certificate.NotAfter.Format(time.RFC3339))
		case now.Before(certificate.NotBefore):
			return Authority{}, fmt.Errorf("the authority is valid from %s: is the clock right?", certificate.NotBefore.Format(time.RFC3339))
		}
		return Authority{certificate, key}, nil
	}
	return Authority{}, errors.New("the key belongs to none of the certificates")
}

// MayVouch says whether a certificate is that of an authority.
func MayVouch(certificate *x509.Certificate) bool {
	return certificate.BasicConstraintsValid && certificate.IsCA &&
		(certificate.KeyUsage == 0 || certificate.KeyUsage&x509.KeyUsageCertSign != 0)
}

func isKeyOf(key crypto.Signer, certificate *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(certificate.PublicKey)
}
