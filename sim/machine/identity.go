// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	stdx509 "crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/grpc/gen"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// An identity is what the Talos API is served with.
type identity struct {
	certificate tls.Certificate
	clients     *stdx509.CertPool // authorities of those who may call
	basis       string            // what it was made from: another basis wants another identity
}

// basisOf is all that decides a machine's identity beside its key.
func basisOf(provider talosconfig.Provider, who subject, endpoints []string) string {
	security := provider.Machine().Security()
	parts := []string{security.Token(), strings.Join(endpoints, ","), who.name, strings.Join(who.names, ","), fmt.Sprint(who.ips)}
	for _, authority := range accepted(provider) {
		parts = append(parts, string(authority.Crt))
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\n"))))
}

// trustdEndpoints are where a machine asks.
func trustdEndpoints(env Environment, provider talosconfig.Provider) ([]string, error) {
	at, err := endpoint(provider)
	if err != nil {
		return nil, err
	}
	if env.Trustd != nil {
		if found := env.Trustd(at.Host); len(found) > 0 {
			return found, nil
		}
	}
	return []string{net.JoinHostPort(at.Hostname(), fmt.Sprint(constants.TrustdPort))}, nil
}

// askTrustd asks for an identity with Talos's own client, for as long as the context lets it. A control plane signs its own.
func askTrustd(ctx context.Context, provider talosconfig.Provider, who subject, endpoints []string) (*identity, error) {
	authorities := accepted(provider)
	if len(authorities) == 0 {
		return nil, errors.New("no accepted CAs")
	}
	security := provider.Machine().Security()
	basis := basisOf(provider, who, endpoints)
	if issuing := security.IssuingCA(); issuing != nil && len(issuing.Key) > 0 && provider.Machine().Type().IsControlPlane() {
		return signOwn(issuing, authorities, who, basis)
	}
	template, err := authorities[len(authorities)-1].GetCert()
	if err != nil {
		return nil, fmt.Errorf("parse the CA certificate: %w", err)
	}
	csr, own, err := x509.NewCSRAndIdentityFromCA(template, x509.IPAddresses(who.ips), x509.DNSNames(who.names), x509.CommonName(who.name))
	if err != nil {
		return nil, fmt.Errorf("make a signing request: %w", err)
	}
	generator, err := gen.NewRemoteGenerator(security.Token(), endpoints, authorities)
	if err != nil {
		return nil, err
	}
	defer func() { _ = generator.Close() }() // there is nothing to do about a connection that does not close
	clients, signed, err := generator.IdentityContext(ctx, csr)
	if err != nil {
		return nil, fmt.Errorf("trustd at %s: %w", strings.Join(endpoints, ", "), oneCause(err))
	}
	return newIdentityOf(signed, own.Key, clients, basis)
}

// signOwn makes the identity of a control plane with its own authority.
func signOwn(issuing *x509.PEMEncodedCertificateAndKey, authorities []*x509.PEMEncodedCertificate, who subject, basis string) (*identity, error) {
	ca, err := x509.NewCertificateAuthorityFromCertificateAndKey(issuing)
	if err != nil {
		return nil, err
	}
	pair, err := x509.NewKeyPair(ca, x509.IPAddresses(who.ips), x509.DNSNames(who.names), x509.CommonName(who.name),
		x509.NotAfter(time.Now().Add(x509.DefaultCertificateValidityDuration)), x509.KeyUsage(stdx509.KeyUsageDigitalSignature),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}))
	if err != nil {
		return nil, err
	}
	signed := x509.NewCertificateAndKeyFromKeyPair(pair)
	var clients []byte
	for _, authority := range authorities {
		clients = append(clients, authority.Crt...)
	}
	return newIdentityOf(signed.Crt, signed.Key, clients, basis)
}

// newIdentityOf puts an identity together.
func newIdentityOf(certificate, key, clients []byte, basis string) (*identity, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("the certificate that was signed: %w", err)
	}
	pool := stdx509.NewCertPool()
	if !pool.AppendCertsFromPEM(clients) {
		return nil, errors.New("trustd answered without an authority")
	}
	return &identity{certificate: pair, clients: pool, basis: basis}, nil
}

// oneCause is the last of the errors that a client of Talos collected, without the deadline that ended it.
func oneCause(err error) error {
	found := slices.DeleteFunc(causes(err), func(text string) bool { return text == context.DeadlineExceeded.Error() || text == "timeout" })
	if len(found) == 0 {
		return err
	}
	return errors.New(found[len(found)-1])
}
