// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"time"
)

// Serving makes a certificate for a server on 127.0.0.1, and the PEM of an authority that vouches for it and for nothing
// else. Both live in memory only: a server that tells its clients whom to trust at each start has no use for files.
func Serving(now time.Time) (tls.Certificate, []byte, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make an authority's key: %w", err)
	}
	template := authorityTemplate("minos-kube-webhooks", now)
	root, err := sign(template, authority{template, rootKey}, rootKey.Public())
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make an authority: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a serving key: %w", err)
	}
	by := authority{root, rootKey}
	want := leaf{
		subject: pkix.Name{CommonName: "127.0.0.1"},
		usages:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		ips:     []net.IP{net.IPv4(127, 0, 0, 1).To4()},
	}
	cert, err := sign(leafTemplate(want, by, now), by, key.Public())
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, encodeCert(root), nil
}
