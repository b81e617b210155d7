// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"fmt"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// marker is who marks the Node: the kubelet; or on a control plane an administrator, because a kubelet may not give its Node
// the label of a control plane. Talos there makes that certificate itself, from the authority that only control planes have.
func (b *boot) marker() (who *kube, done func(), err error) {
	provider := b.config()
	authority := provider.K8sAPIServerCAConfig()
	if !provider.Machine().Type().IsControlPlane() || authority == nil || authority.IssuingCA() == nil || len(authority.IssuingCA().Key) == 0 {
		return b.client(), func() {}, nil
	}
	joins, err := targetOf(provider)
	if err != nil {
		return nil, nil, err
	}
	identity, err := administrator(authority.IssuingCA())
	if err != nil {
		return nil, nil, err
	}
	transport, err := newTransport(b.rack.environment, joins, identity)
	if err != nil {
		return nil, nil, err
	}
	who, err = connect(joins, transport)
	if err != nil {
		return nil, nil, err
	}
	return who, who.close, nil
}

// administrator makes a certificate with which everything is allowed for a while.
func administrator(issuing *x509.PEMEncodedCertificateAndKey) (*tls.Certificate, error) {
	ca, err := x509.NewCertificateAuthorityFromCertificateAndKey(issuing)
	if err != nil {
		return nil, fmt.Errorf("read the authority of Kubernetes: %w", err)
	}
	pair, err := x509.NewKeyPair(ca, x509.CommonName("talos:admin"), x509.Organization("system:masters"),
		x509.NotAfter(time.Now().Add(time.Hour)), x509.KeyUsage(stdx509.KeyUsageDigitalSignature),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}))
	if err != nil {
		return nil, err
	}
	return pair.Certificate, nil
}
