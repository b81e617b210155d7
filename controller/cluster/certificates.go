// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	stdx509 "crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/netip"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/pki"
)

// TalosconfigKey is where in its Secret the owner's talosconfig is.
const TalosconfigKey = "talosconfig"

// skew is how far the clock of a machine may be behind ours.
const skew = 5 * time.Minute

// serving makes the signer's certificate, and anew when it is due or has other names than it should.
func (t *turn) serving(ctx context.Context) error {
	secret, err := t.read(ctx, names.SignerTLS(t.cluster))
	if err != nil {
		return err
	}
	var current *stdx509.Certificate
	if secret != nil {
		current = certificate(secret.Data[corev1.TLSCertKey])
	}
	authority, err := t.identity.Bundle.Certs.OS.GetCert()
	if err != nil {
		return err
	}
	t.expires(metrics.ExpiryTalosAuthority, authority.NotAfter)
	t.addresses = t.resolve(ctx, current)
	wanted := hosted.ServingNames(t.cluster, t.view.Endpoint, t.addresses)
	renew, why := hosted.Serving(t.now, current, authority, wanted)
	if !renew {
		t.expires(metrics.ExpirySigner, current.NotAfter)
		return nil
	}
	made, err := serve(t.identity, wanted, t.now)
	if err != nil {
		return failed(err)
	}
	if err := t.pair(ctx, names.SignerTLS(t.cluster), made.CrtPEM, made.KeyPEM); err != nil {
		return err
	}
	t.renewed(renewal{metrics.ExpirySigner, current != nil, t.now.Add(hosted.ServingLife), why})
	return nil
}

// serve makes a serving certificate of the Talos authority, with a new key.
func serve(identity *pki.Secrets, wanted []string, now time.Time) (*x509.KeyPair, error) {
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(identity.Bundle.Certs.OS)
	if err != nil {
		return nil, err
	}
	var hosts []string
	var addresses []net.IP
	for _, name := range wanted {
		if address, err := netip.ParseAddr(name); err == nil {
			addresses = append(addresses, address.AsSlice())
			continue
		}
		hosts = append(hosts, name)
	}
	return x509.NewKeyPair(authority,
		x509.CommonName("minos-signer"), x509.DNSNames(hosts), x509.IPAddresses(addresses),
		x509.NotBefore(now.Add(-skew)), x509.NotAfter(now.Add(hosted.ServingLife)),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature), x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}))
}

// access makes the owner's talosconfig. It looks and restarts, and changes nothing: a machine that was configured or reset by hand
// is no longer what its pool declares. Hosted control planes have no Talos API, so that a command names the machine it is about.
func (t *turn) access(ctx context.Context) error {
	if t.report.Endpoint == nil {
		return nil // it is made when there is something to reach
	}
	secret, err := t.read(ctx, names.Talosconfig(t.cluster))
	if err != nil {
		return err
	}
	authority, err := t.identity.Bundle.Certs.OS.GetCert()
	if err != nil {
		return err
	}
	current := accessOf(secret, t.cluster.Name)
	renew, why := hosted.Access(t.now, current, authority)
	if !renew {
		t.expires(metrics.ExpiryTalosconfig, current.NotAfter)
		return nil
	}
	text, err := t.identity.Talosconfig(pki.TalosAccess{
		Cluster: t.cluster.Name, Endpoints: []string{t.report.Endpoint.Host}, Roles: []string{string(role.Operator), string(role.Reader)},
		Validity: pki.Validity{Now: t.now, For: hosted.AccessLife},
	})
	if err != nil {
		return failed(err)
	}
	made := hosted.Secret(t.cluster, names.Talosconfig(t.cluster), names.PurposeAccess)
	made.Data = map[string][]byte{TalosconfigKey: text}
	if _, err = t.writer.Apply(ctx, made); err != nil {
		return failed(err)
	}
	t.renewed(renewal{metrics.ExpiryTalosconfig, current != nil, t.now.Add(hosted.AccessLife), why})
	return nil
}

// accessOf is the certificate in a talosconfig, or nil if there is none that can be read.
func accessOf(secret *corev1.Secret, cluster string) *stdx509.Certificate {
	var read struct {
		Contexts map[string]struct {
			Crt string `yaml:"crt"`
		} `yaml:"contexts"`
	}
	if secret == nil || yaml.Unmarshal(secret.Data[TalosconfigKey], &read) != nil {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(read.Contexts[cluster].Crt)
	if err != nil {
		return nil
	}
	return certificate(text)
}

// certificate reads a certificate in PEM, or nil if it is none.
func certificate(text []byte) *stdx509.Certificate {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	found, err := stdx509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return found
}
