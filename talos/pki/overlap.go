// SPDX-License-Identifier: Apache-2.0

package pki

import (
	stdx509 "crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
)

// material is what a part is: a certificate or public key and the private key to it, as PEM.
type material struct{ public, private []byte }

// An overlap is how a part is replaced of which old and new can be accepted together.
type overlap struct {
	what  string // in a sentence
	until string // what to wait for before the old one is forgotten
	make  func(contract *config.VersionContract, now time.Time) (material, error)
	get   func(bundle *secrets.Bundle) (material, error)
	put   func(bundle *secrets.Bundle, m material)
	check func(name string, m material) error
}

// overlaps are the parts that have it.
var overlaps = map[Part]overlap{
	PartTalosCA: authorityOverlap("authority of the Talos API",
		func(bundle *secrets.Bundle) **x509.PEMEncodedCertificateAndKey { return &bundle.Certs.OS },
		func(_ *config.VersionContract, now time.Time) (*x509.CertificateAuthority, error) {
			return secrets.NewTalosCA(now)
		}),
	PartKubernetesCA: authorityOverlap("authority of the Kubernetes API",
		func(bundle *secrets.Bundle) **x509.PEMEncodedCertificateAndKey { return &bundle.Certs.K8s },
		func(contract *config.VersionContract, now time.Time) (*x509.CertificateAuthority, error) {
			return secrets.NewKubernetesCA(now, contract)
		}),
	PartServiceAccount: {
		what: "key of service accounts", make: makeServiceAccount, check: checkServiceAccount,
		until: "pods have tokens of the new key, which takes an hour; tokens that are kept in Secrets have to be made anew",
		get: func(bundle *secrets.Bundle) (material, error) {
			if bundle.Certs.K8sServiceAccount == nil {
				return material{}, errors.New("certs.k8sserviceaccount.key is missing")
			}
			return serviceAccount(bundle.Certs.K8sServiceAccount.Key)
		},
		put: func(bundle *secrets.Bundle, m material) {
			bundle.Certs.K8sServiceAccount = &x509.PEMEncodedKey{Key: m.private}
		},
	},
}

// authorityOverlap is the overlap of an authority in the bundle.
func authorityOverlap(
	what string, in func(*secrets.Bundle) **x509.PEMEncodedCertificateAndKey,
	fresh func(*config.VersionContract, time.Time) (*x509.CertificateAuthority, error),
) overlap {
	return overlap{
		what: what, until: "each has certificates of the new one; and make new credentials for people and programs",
		make: func(contract *config.VersionContract, now time.Time) (material, error) {
			ca, err := fresh(contract, now)
			if err != nil {
				return material{}, err
			}
			return material{ca.CrtPEM, ca.KeyPEM}, nil
		},
		get: func(bundle *secrets.Bundle) (material, error) {
			pair := *in(bundle)
			if pair == nil || len(pair.Key) == 0 {
				return material{}, errors.New("its key is not here: whoever has it replaces it")
			}
			return material{pair.Crt, pair.Key}, nil
		},
		put: func(bundle *secrets.Bundle, m material) {
			*in(bundle) = &x509.PEMEncodedCertificateAndKey{Crt: m.public, Key: m.private}
		},
		check: func(name string, m material) error {
			return checkPair(name, &x509.PEMEncodedCertificateAndKey{Crt: m.public, Key: m.private})
		},
	}
}

// makeServiceAccount makes a key of the kind that the Talos version would.
func makeServiceAccount(contract *config.VersionContract, _ time.Time) (material, error) {
	if contract.UseRSAServiceAccountKey() {
		made, err := x509.NewRSAKey()
		if err != nil {
			return material{}, err
		}
		return serviceAccount(made.KeyPEM)
	}
	made, err := x509.NewECDSAKey()
	if err != nil {
		return material{}, err
	}
	return serviceAccount(made.KeyPEM)
}

// serviceAccount adds the public key to a private one.
func serviceAccount(private []byte) (material, error) {
	key, err := (&x509.PEMEncodedKey{Key: private}).GetKey()
	if err != nil {
		return material{}, err
	}
	block, _ := pem.Decode(key.GetPublicKeyPEM())
	if block == nil {
		return material{}, errors.New("a key without a public one")
	}
	return material{pem.EncodeToMemory(&pem.Block{Type: x509.PEMTypeRSAPublic, Bytes: block.Bytes}), private}, nil
}

// checkServiceAccount says what is wrong with a key.
func checkServiceAccount(name string, m material) error {
	block, _ := pem.Decode(m.public)
	if block == nil {
		return fmt.Errorf("%s.public is no public key", name)
	}
	if _, err := stdx509.ParsePKIXPublicKey(block.Bytes); err != nil {
		return fmt.Errorf("%s.public is no public key: %w", name, err)
	}
	if len(m.private) == 0 {
		return nil
	}
	whole, err := serviceAccount(m.private)
	if err != nil {
		return fmt.Errorf("%s.key is no private key: %w", name, err)
	}
	if string(whole.public) != string(m.public) {
		return fmt.Errorf("%s.key does not belong to %s.public", name, name)
	}
	return nil
}

// newTokens makes tokens. Talos makes them with a whole bundle only; the kind of key that is quickest to make is thrown away.
func newTokens(contract *config.VersionContract, now time.Time) (*secrets.Bundle, error) {
	fresh, err := secrets.NewBundle(secrets.NewFixedClock(now), contract, secrets.WithECDSAServiceAccountKey())
	if err != nil {
		return nil, fmt.Errorf("make tokens: %w", err)
	}
	return fresh, nil
}
