// SPDX-License-Identifier: Apache-2.0

package hosted

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
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"minos.dev/minos/sim/file"
)

// An Authority signs for a cluster: its API server, its clients and its kubelets. Both are PEM.
type Authority struct {
	Certificate []byte
	Key         []byte
}

// life is how long an authority that is made here lives, as kubeadm has it.
const life = 10 * 365 * 24 * time.Hour

// EnsureAuthority returns the authority of a control plane's folder, also before its first start. If there is none yet,
// the wanted one is put in place; without a wanted one, one is made.
func EnsureAuthority(dir string, want *Authority) (Authority, error) {
	at := place(dir)
	found, err := at.read()
	switch {
	case err != nil:
		return Authority{}, err
	case found == nil && want == nil:
		made, err := newAuthority(time.Now())
		if err != nil {
			return Authority{}, err
		}
		return made, at.write(made)
	case found == nil:
		normal, err := want.normal()
		if err != nil {
			return Authority{}, err
		}
		return normal, at.write(normal)
	case want != nil && !same(found.Certificate, want.Certificate):
		return Authority{}, fmt.Errorf("%s has another authority than the one that is wanted: use that, or another folder", dir)
	}
	return *found, nil
}

// newAuthority makes one, with the name that kubeadm gives it.
func newAuthority(now time.Time) (Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Authority{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "kubernetes"}, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Authority{}, err
	}
	return encode(der, key)
}

// normal is the authority in the form that minos-kube reads. It refuses what is none.
func (a Authority) normal() (Authority, error) {
	pair, err := tls.X509KeyPair(a.Certificate, a.Key)
	if err != nil {
		return Authority{}, fmt.Errorf("the authority of Kubernetes cannot be used: %w", err)
	}
	if !pair.Leaf.IsCA {
		return Authority{}, fmt.Errorf("%q is no authority: its certificate may not sign", pair.Leaf.Subject)
	}
	return encode(pair.Leaf.Raw, pair.PrivateKey)
}

// encode writes a certificate and its key as PEM.
func encode(certificate []byte, key any) (Authority, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Authority{}, err
	}
	return Authority{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}, nil
}

// same compares certificates, whatever stands around them.
func same(one, other []byte) bool {
	a, _ := pem.Decode(one)
	b, _ := pem.Decode(other)
	return a != nil && b != nil && bytes.Equal(a.Bytes, b.Bytes)
}

// pair is where minos-kube has the authority.
type pair struct{ certificate, key string }

func place(dir string) pair {
	return pair{filepath.Join(dir, "pki", "ca.crt"), filepath.Join(dir, "pki", "ca.key")}
}

// read returns what is there, or nil. A key alone is a start that was cut off, and has signed nothing.
func (p pair) read() (*Authority, error) {
	certificate, err := os.ReadFile(p.certificate)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(p.key)
	if err != nil {
		return nil, err
	}
	return &Authority{Certificate: certificate, Key: key}, nil
}

// write puts an authority in place: the key first, and each file in one step, so that it can be cut off anywhere.
func (p pair) write(authority Authority) error {
	if err := os.MkdirAll(filepath.Dir(p.key), 0o700); err != nil {
		return err
	}
	if err := file.Write(p.key, authority.Key); err != nil {
		return err
	}
	return file.Write(p.certificate, authority.Certificate)
}
