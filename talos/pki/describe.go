// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/sha256"
	stdx509 "crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"time"

	"minos.dev/minos/talos/redact"
)

// An Item is one part of the secrets as it can be shown. Of tokens and keys nothing is derived, because a hash of something
// short can be guessed; of certificates and public keys there is nothing to hide.
type Item struct {
	// Name is where it stands in the bundle.
	Name string `json:"name"`
	// Kind is identity, token, secret, authority or key.
	Kind string `json:"kind"`
	// Subject is whom the certificate names.
	Subject string `json:"subject,omitempty"`
	// NotAfter is when the certificate expires.
	NotAfter string `json:"notAfter,omitempty"`
	// Fingerprint is the SHA-256 of the public key.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Value is the secret as it stands in the bundle, or a mark in its place.
	Value string `json:"value,omitempty"`
}

// Describe lists all that is there, in the order of the bundle, with values or without.
func (s *Secrets) Describe(redacted bool) []Item {
	bundle := s.Bundle
	items := []Item{{Name: "cluster.id", Kind: "identity", Value: bundle.Cluster.ID}} // Talos shows it too
	hide := func(item Item) {
		if item.Value == "" {
			return
		}
		if redacted {
			item.Value = redact.Mark
		}
		items = append(items, item)
	}
	hide(Item{Name: "cluster.secret", Kind: "secret", Value: bundle.Cluster.Secret})
	hide(Item{Name: "secrets.bootstraptoken", Kind: "token", Value: bundle.Secrets.BootstrapToken})
	hide(Item{Name: "secrets.aescbcencryptionsecret", Kind: "secret", Value: bundle.Secrets.AESCBCEncryptionSecret})
	hide(Item{Name: "secrets.secretboxencryptionsecret", Kind: "secret", Value: bundle.Secrets.SecretboxEncryptionSecret})
	hide(Item{Name: "trustdinfo.token", Kind: "token", Value: bundle.TrustdInfo.Token})
	for _, one := range s.authorities() {
		if one.pair == nil {
			continue
		}
		certificate, _ := one.pair.GetCert() // it was looked at when it was read
		items = append(items, describe(one.name+".crt", certificate))
		hide(Item{Name: one.name + ".key", Kind: "key", Value: base64.StdEncoding.EncodeToString(one.pair.Key)})
	}
	if account := bundle.Certs.K8sServiceAccount; account != nil {
		item := Item{Name: "certs.k8sserviceaccount.key", Kind: "key", Value: base64.StdEncoding.EncodeToString(account.Key)}
		if whole, err := serviceAccount(account.Key); err == nil {
			item.Fingerprint = publicFingerprint(whole.public)
		}
		hide(item)
	}
	for _, rotation := range s.Rotations {
		name := "minos.rotation." + string(rotation.Part)
		items = append(items, rotation.describe(name))
		hide(Item{Name: name + ".key", Kind: "key", Value: rotation.Key})
	}
	return items
}

// describe is what can be shown of a certificate.
func describe(name string, certificate *stdx509.Certificate) Item {
	item := Item{Name: name, Kind: "authority"}
	if certificate == nil {
		return item
	}
	item.Subject = certificate.Subject.String()
	item.NotAfter = certificate.NotAfter.UTC().Format(time.RFC3339)
	item.Fingerprint = fingerprint(certificate.RawSubjectPublicKeyInfo)
	return item
}

// describe is what can be shown of a rotation: what is accepted beside what issues.
func (r Rotation) describe(name string) Item {
	public, _ := base64.StdEncoding.DecodeString(r.Public) // it was looked at when it was read
	if block, _ := pem.Decode(public); block != nil && block.Type == "CERTIFICATE" {
		certificate, _ := stdx509.ParseCertificate(block.Bytes)
		return describe(name+".public", certificate)
	}
	return Item{Name: name + ".public", Kind: "key", Fingerprint: publicFingerprint(public)}
}

// publicFingerprint is that of a public key in PEM.
func publicFingerprint(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	return fingerprint(block.Bytes)
}

// fingerprint is the SHA-256 of a public key, as much of it as people compare.
func fingerprint(public []byte) string {
	sum := sha256.Sum256(public)
	return "sha256:" + hex.EncodeToString(sum[:8])
}
