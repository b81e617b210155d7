// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	stdx509 "crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// Need says how much of the secrets has to be there.
type Need int

// What secrets are needed for.
const (
	// NeedAll is what a control plane of Talos needs: all of it.
	NeedAll Need = iota
	// NeedWorkers is what workers need whose control plane is hosted or somebody else's: tokens, the identity, and the
	// certificates of the authorities. Keys may be there.
	NeedWorkers
	// NeedIdentity is what a cluster is born with whose control plane is hosted or somebody else's: the same with the key of the
	// Talos authority, and before there is an authority of Kubernetes anywhere.
	NeedIdentity
)

// bootstrapToken is the form that Kubernetes wants.
var bootstrapToken = regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)

// encryptionKeySize is that of the secrets which encrypt: AES-256 and secretbox.
const encryptionKeySize = 32

// check says the first thing that is missing or broken.
func (s *Secrets) check(need Need) error {
	bundle := s.Bundle
	for _, one := range []struct{ name, value string }{
		{"cluster.id", bundle.Cluster.ID}, {"cluster.secret", bundle.Cluster.Secret},
		{"secrets.bootstraptoken", bundle.Secrets.BootstrapToken}, {"trustdinfo.token", bundle.TrustdInfo.Token},
	} {
		if one.value == "" {
			return fmt.Errorf("%s is missing", one.name)
		}
	}
	if !isKey(bundle.Cluster.Secret) {
		return fmt.Errorf("cluster.secret is not %d bytes in base64", encryptionKeySize)
	}
	if !bootstrapToken.MatchString(bundle.Secrets.BootstrapToken) {
		return errors.New("secrets.bootstraptoken is not of the form abcdef.0123456789abcdef")
	}
	if err := s.checkAuthorities(need); err != nil {
		return err
	}
	if need == NeedAll {
		if err := s.checkControlPlane(); err != nil {
			return err
		}
	}
	return s.checkRotations()
}

// isKey says whether a text is a key that encrypts.
func isKey(text string) bool {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(decoded) == encryptionKeySize
}

// checkControlPlane looks at what only machines of a control plane get, beside authorities.
func (s *Secrets) checkControlPlane() error {
	aescbc, secretbox := s.Bundle.Secrets.AESCBCEncryptionSecret, s.Bundle.Secrets.SecretboxEncryptionSecret
	switch {
	case aescbc == "" && secretbox == "":
		return errors.New("secrets.secretboxencryptionsecret is missing")
	case aescbc != "" && secretbox != "":
		return errors.New("secrets.secretboxencryptionsecret and secrets.aescbcencryptionsecret are both there: one is too many")
	case !isKey(aescbc + secretbox):
		return fmt.Errorf("the encryption secret in secrets is not %d bytes in base64", encryptionKeySize)
	}
	account := s.Bundle.Certs.K8sServiceAccount
	if account == nil || len(account.Key) == 0 {
		return errors.New("certs.k8sserviceaccount.key is missing")
	}
	if _, err := account.GetKey(); err != nil {
		return fmt.Errorf("certs.k8sserviceaccount.key is no private key: %w", err)
	}
	return nil
}

// An authority is one of those in the bundle.
type authority struct {
	name   string
	pair   *x509.PEMEncodedCertificateAndKey
	always bool // workers need its certificate too
	own    bool // a cluster is born with it, whoever runs its control plane
}

// isNeeded says whether its certificate is.
func (a authority) isNeeded(need Need) bool {
	return need == NeedAll || a.own || a.always && need == NeedWorkers
}

// isKeyNeeded says whether its key is.
func (a authority) isKeyNeeded(need Need) bool {
	return need == NeedAll || a.own && need == NeedIdentity
}

// authorities are all that can be in a bundle.
func (s *Secrets) authorities() []authority {
	certs := s.Bundle.Certs
	return []authority{
		{name: "certs.etcd", pair: certs.Etcd}, {name: "certs.k8s", pair: certs.K8s, always: true},
		{name: "certs.k8saggregator", pair: certs.K8sAggregator}, {name: "certs.os", pair: certs.OS, always: true, own: true},
	}
}

// checkAuthorities looks at the authorities that are needed, and at those that are there beyond that.
func (s *Secrets) checkAuthorities(need Need) error {
	for _, one := range s.authorities() {
		switch {
		case one.pair == nil && !one.isNeeded(need):
			continue
		case one.pair == nil || len(one.pair.Crt) == 0:
			return fmt.Errorf("%s.crt is missing", one.name)
		case len(one.pair.Key) == 0 && one.isKeyNeeded(need):
			return fmt.Errorf("%s.key is missing", one.name)
		}
		if err := checkPair(one.name, one.pair); err != nil {
			return err
		}
	}
	return nil
}

// checkPair says what is wrong with an authority. A key may be missing, and must fit if it is there.
func checkPair(name string, pair *x509.PEMEncodedCertificateAndKey) error {
	certificate, err := pair.GetCert()
	if err != nil {
		return fmt.Errorf("%s.crt is no certificate: %w", name, err)
	}
	if !certificate.IsCA {
		return fmt.Errorf("%s.crt is a certificate, and not that of an authority", name)
	}
	if len(pair.Key) == 0 {
		return nil
	}
	private, err := pair.GetKey()
	if err != nil {
		return fmt.Errorf("%s.key is no private key: %w", name, err)
	}
	if !fits(certificate, private) {
		return fmt.Errorf("%s.key does not belong to %s.crt", name, name)
	}
	return nil
}

// fits says whether a private key is that of a certificate.
func fits(certificate *stdx509.Certificate, private any) bool {
	signer, isSigner := private.(crypto.Signer)
	public, comparable := certificate.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return isSigner && comparable && public.Equal(signer.Public())
}

// CheckTime says the first authority that is not valid at a time. It is apart from reading: expired secrets must be
// readable to be replaced.
func (s *Secrets) CheckTime(now time.Time) error {
	for _, one := range s.authorities() {
		if one.pair == nil {
			continue
		}
		certificate, err := one.pair.GetCert()
		if err != nil {
			return fmt.Errorf("%s.crt is no certificate: %w", one.name, err)
		}
		if err := valid(one.name, certificate, now); err != nil {
			return err
		}
	}
	return nil
}

// valid says whether a certificate is valid at a time.
func valid(name string, certificate *stdx509.Certificate, now time.Time) error {
	switch {
	case now.After(certificate.NotAfter):
		return fmt.Errorf("%s expired on %s", name, certificate.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(certificate.NotBefore):
		return fmt.Errorf("%s is not valid before %s: is the clock right?", name, certificate.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}
