// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// answerWithin bounds how long a signer may take to answer, at all addresses together, and how long a name may take to resolve.
const answerWithin = 5 * time.Second

// trust asks the signer for its certificate, everywhere where workers will.
func (t *turn) trust(ctx context.Context) (metav1.Condition, error) {
	if t.report.Endpoint == nil || t.cluster.Spec.ControlPlane.Kamaji != nil && !t.view.Ready {
		return metav1.Condition{}, &material.Waiting{For: "the signer runs beside the control plane, which is not ready yet"}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(t.identity.Bundle.Certs.OS.Crt)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	hosts := []string{t.report.Endpoint.Host}
	for _, address := range t.addresses {
		hosts = append(hosts, address.String())
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	for _, host := range hosts {
		if err := t.greet(ctx, host, roots); err != nil {
			return metav1.Condition{}, failed(t.mistrust(host, err))
		}
	}
	return hosted.Yes(api.ConditionTrustReady, fmt.Sprintf("the signer answers at port %d of %s", hosted.TrustPort, strings.Join(hosts, ", "))), nil
}

// mistrust says why machines would not trust what is at an address. One that answers with a foreign authority is no signer that is
// away: machines would refuse it, and it them.
func (t *turn) mistrust(host string, err error) error {
	if _, foreign := errors.AsType[x509.UnknownAuthorityError](err); foreign {
		return fmt.Errorf("port %d of %s answers with a certificate of another authority than that of TalosCluster %s, so that no machine would trust it: %s",
			hosted.TrustPort, host, t.cluster.Name, t.remedy())
	}
	return fmt.Errorf("the signer does not answer at port %d of %s: %w: %s", hosted.TrustPort, host, err, t.remedy())
}

// remedy is where to look when a signer does not answer.
func (t *turn) remedy() string {
	if t.cluster.Spec.ControlPlane.External != nil {
		return fmt.Sprintf("run minos-signer there as docs/signer/standalone.yaml has it, with Secrets %s, %s and %s",
			names.TalosCA(t.cluster), names.SignerTLS(t.cluster), names.SignerTokens(t.cluster))
	}
	return fmt.Sprintf("look at container minos-signer of Deployment %s and at port %d of Service %s", t.cluster.Name, hosted.TrustPort, t.cluster.Name)
}

// greet shakes hands with a signer and says nothing more. The address is one that a tenant may have named.
func (t *turn) greet(ctx context.Context, host string, roots *x509.CertPool) error {
	raw, err := t.Tenants.Dial(ctx, net.JoinHostPort(host, strconv.Itoa(hosted.TrustPort)))
	if err != nil {
		return err
	}
	connection := tls.Client(raw, &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: host})
	defer func() { _ = connection.Close() }() // nothing was said that could be lost
	return connection.HandshakeContext(ctx)
}

// resolve finds the addresses of the endpoint. While a name does not resolve, those that the certificate has stay in it.
func (t *turn) resolve(ctx context.Context, current *x509.Certificate) []netip.Addr {
	if t.report.Endpoint == nil {
		return nil
	}
	host := t.report.Endpoint.Host
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address.Unmap()}
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	find := t.Settings.Resolve
	if find == nil {
		find = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	found, err := find(ctx, host)
	if err != nil || len(found) == 0 {
		if current == nil {
			return nil
		}
		return hosted.Addresses(current)
	}
	for at := range found {
		found[at] = found[at].Unmap()
	}
	return found
}
