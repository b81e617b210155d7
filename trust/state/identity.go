// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/policy"
)

// ServingValidity is the life of a serving certificate that the signer makes for itself.
const ServingValidity = 24 * time.Hour

// An Identity is who the signer is: what it signs with, whom it names, and what it shows. It does not change.
type Identity struct {
	// Authority signs.
	Authority issue.Authority
	// Accepted are all authorities that a machine is told to accept, the issuing one last, as trustd has it.
	Accepted []*x509.Certificate
	// Answer is the same in PEM.
	Answer []byte
	// Serving is what the signer shows of itself.
	Serving *tls.Certificate
	// Own are the names that no machine may have.
	Own policy.Own
	// Warnings are what is worth a look and does not stop anything.
	Warnings []string

	renew time.Time // when a serving certificate of our own wants renewal; zero if it is somebody else's
}

// identityFiles is what an identity is read from.
type identityFiles struct {
	caCert, caKey, tlsCert, tlsKey file
	accepted                       []file
}

// identityPaths are the files to look at.
func (s Sources) identityPaths() []string {
	paths := append([]string{s.CACert, s.CAKey}, s.Accepted...)
	if !s.servesItself() {
		paths = append(paths, s.TLSCert, s.TLSKey)
	}
	return paths
}

func (s Sources) servesItself() bool { return len(s.Serving.Names)+len(s.Serving.Addresses) > 0 }

// readIdentity reads the files.
func (s Sources) readIdentity(ctx context.Context) (found identityFiles, err error) {
	read := func(field, path string) file {
		var one file
		if err == nil {
			one, err = readFile(ctx, field, path, maxFile)
		}
		return one
	}
	found.caCert, found.caKey = read("ca-cert", s.CACert), read("ca-key", s.CAKey)
	if !s.servesItself() {
		found.tlsCert, found.tlsKey = read("tls-cert", s.TLSCert), read("tls-key", s.TLSKey)
	}
	for _, path := range s.Accepted {
		if err != nil {
			break
		}
		if info, statErr := os.Stat(path); statErr != nil || !info.IsDir() {
			found.accepted = append(found.accepted, read("accepted-cas", path))
			continue
		}
		var more []file
		more, err = readFolder(ctx, "accepted-cas", path, maxFile)
		found.accepted = append(found.accepted, more...)
	}
	return found, err
}

// newIdentity checks the files together and makes an identity of them. Where the signer makes its own serving
// certificate, that of the identity before is kept while it is good.
func (s Sources) newIdentity(files identityFiles, before *Identity, now time.Time) (*Identity, error) {
	certificates, err := issue.ParseCertificates(files.caCert.text)
	if err != nil {
		return nil, fmt.Errorf("ca-cert: %s %w", files.caCert.path, err)
	}
	key, err := issue.ParseKey(files.caKey.text)
	if err != nil {
		return nil, fmt.Errorf("ca-key: %s %w", files.caKey.path, err)
	}
	identity := &Identity{}
	if identity.Authority, err = issue.NewAuthority(certificates, key, now); err != nil {
		return nil, fmt.Errorf("ca-key: %s and %s: %w", files.caKey.path, files.caCert.path, err)
	}
	if err := identity.accept(certificates, files.accepted, now); err != nil {
		return nil, err
	}
	if s.servesItself() {
		err = identity.serveItself(s.Serving, before, now)
	} else {
		err = identity.serve(files.tlsCert, files.tlsKey, now)
	}
	if err != nil {
		return nil, err
	}
	return identity, identity.owns(s.Own)
}

// accept collects the accepted authorities, each once and the issuing one last.
func (i *Identity) accept(beside []*x509.Certificate, files []file, now time.Time) error {
	all := slices.Clone(beside)
	for _, file := range files {
		more, err := issue.ParseCertificates(file.text)
		if err != nil {
			return fmt.Errorf("accepted-cas: %s %w", file.path, err)
		}
		all = append(all, more...)
	}
	for _, certificate := range all {
		if certificate.Equal(i.Authority.Certificate) || slices.ContainsFunc(i.Accepted, certificate.Equal) {
			continue
		}
		if !issue.MayVouch(certificate) {
			return fmt.Errorf("accepted-cas: %q is not the certificate of an authority", certificate.Subject)
		}
		if now.After(certificate.NotAfter) {
			i.warn("the accepted authority %q expired at %s: remove it", certificate.Subject, certificate.NotAfter.Format(time.RFC3339))
		}
		i.Accepted = append(i.Accepted, certificate)
	}
	i.Accepted = append(i.Accepted, i.Authority.Certificate)
	var answer bytes.Buffer
	for _, certificate := range i.Accepted {
		answer.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))
	}
	i.Answer = answer.Bytes()
	return nil
}

// serve takes a serving certificate that somebody else made.
func (i *Identity) serve(certificate, key file, now time.Time) error {
	pair, err := tls.X509KeyPair(certificate.text, key.text)
	if err != nil {
		return fmt.Errorf("tls-cert: %s and %s: %w", certificate.path, key.path, err)
	}
	leaf := pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("tls-cert: %s expired at %s: renew it", certificate.path, leaf.NotAfter.Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("tls-cert: %s is valid from %s: is the clock right?", certificate.path, leaf.NotBefore.Format(time.RFC3339))
	case len(leaf.DNSNames)+len(leaf.IPAddresses) == 0:
		return fmt.Errorf("tls-cert: %s has no names: give it those by which workers reach the signer", certificate.path)
	}
	i.Serving = &pair
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, accepted := range i.Accepted {
		roots.AddCert(accepted)
	}
	for _, der := range pair.Certificate[1:] {
		if certificate, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(certificate)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now}); err != nil {
		i.warn("no accepted authority vouches for the serving certificate (%v): workers that accept no other will not talk to the signer", err)
	}
	return nil
}

// serveItself makes a serving certificate, or keeps the one before: clients of a certificate that changes without need
// see nothing but noise.
func (i *Identity) serveItself(names issue.Names, before *Identity, now time.Time) error {
	if before != nil && before.Authority.Certificate.Equal(i.Authority.Certificate) && now.Before(before.renew) {
		i.Serving, i.renew = before.Serving, before.renew
		return nil
	}
	serving, err := i.Authority.Serve(names, now, ServingValidity)
	if err != nil {
		return fmt.Errorf("serving-names: %w", err)
	}
	i.Serving = serving
	// Before half of its life: there is then as much time again for whatever keeps it from being renewed.
	i.renew = now.Add(serving.Leaf.NotAfter.Sub(now) * 2 / 5)
	return nil
}

// renewed is the identity with a new serving certificate of its own.
func (i *Identity) renewed(names issue.Names, now time.Time) (*Identity, error) {
	fresh := *i
	return &fresh, fresh.serveItself(names, nil, now)
}

// owns collects the names that no machine may have: those of the serving certificate, and those that were given.
func (i *Identity) owns(given []string) error {
	entries := slices.Clone(given)
	leaf := i.Serving.Leaf
	for _, ip := range leaf.IPAddresses {
		entries = append(entries, ip.String())
	}
	for _, name := range slices.Concat(leaf.DNSNames, []string{leaf.Subject.CommonName}) {
		if _, err := policy.NewOwn([]string{name}); err == nil {
			entries = append(entries, name)
		} else if strings.HasPrefix(name, "*.") {
			i.warn("the serving certificate is for %q: which of these workers dial cannot be known, so say it with --refuse", name)
		}
	}
	own, err := policy.NewOwn(entries)
	if err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	i.Own = own
	return nil
}

func (i *Identity) warn(format string, args ...any) {
	i.Warnings = append(i.Warnings, fmt.Sprintf(format, args...))
}
