// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// An authority signs certificates.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         ed25519.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{t: t, key: key, certificate: &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(10 * 365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	a.certificate = a.sign(a.certificate, public)
	return a
}

func (a authority) sign(template *x509.Certificate, public ed25519.PublicKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// serving is a certificate of noon for names.
func (a authority) serving(names []string, addresses ...string) *x509.Certificate {
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: noon, NotAfter: noon.Add(hosted.ServingLife), DNSNames: names}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	return a.sign(template, a.key.Public().(ed25519.PublicKey))
}

func TestServing(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	wanted := []string{"10.0.0.5", "shop.tenants.svc"}
	const day = 24 * time.Hour
	tests := map[string]struct {
		current *x509.Certificate
		after   time.Duration
		why     string // a part of it; nothing means that it stays
	}{
		"none":                          {nil, 0, "there is none yet"},
		"a new one":                     {ours.serving([]string{"shop.tenants.svc"}, "10.0.0.5"), 0, ""},
		"the day before it is due":      {ours.serving([]string{"shop.tenants.svc"}, "10.0.0.5"), 59 * day, ""},
		"the day when it is due":        {ours.serving([]string{"shop.tenants.svc"}, "10.0.0.5"), 60 * day, "two thirds of its life were over on 2027-01-14"},
		"long expired":                  {ours.serving([]string{"shop.tenants.svc"}, "10.0.0.5"), 400 * day, "two thirds"},
		"an address is missing":         {ours.serving([]string{"shop.tenants.svc"}), 0, "should have 10.0.0.5, shop.tenants.svc"},
		"a name that is wanted no more": {ours.serving([]string{"old.example.com", "shop.tenants.svc"}, "10.0.0.5"), 0, "it has the names 10.0.0.5, old.example.com"},
		"of another authority":          {other.serving([]string{"shop.tenants.svc"}, "10.0.0.5"), 0, "another authority"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			renew, why := hosted.Serving(noon.Add(test.after), test.current, ours.certificate, wanted)
			if renew != (test.why != "") || !strings.Contains(why, test.why) {
				t.Errorf("got %v because %q", renew, why)
			}
		})
	}
}

func TestServingNames(t *testing.T) {
	got := &api.Endpoint{Host: "10.0.0.5", Port: 6443}
	tests := map[string]struct {
		cluster   *api.TalosCluster
		got       *api.Endpoint
		addresses []string
		want      []string
	}{
		"before there is an endpoint": {shop(), nil, nil, []string{"shop.tenants.svc", "shop.tenants.svc.cluster.local"}},
		"hosted":                      {shop(), got, []string{"10.0.0.5"}, []string{"10.0.0.5", "shop.tenants.svc", "shop.tenants.svc.cluster.local"}},
		"with a name of its own": {
			bank(), got, []string{"::ffff:192.0.2.9", "2001:db8::1"},
			[]string{"10.0.0.5", "192.0.2.9", "2001:db8::1", "bank.example.com", "bank.tenants.svc", "bank.tenants.svc.cluster.local"},
		},
		"external": {outside(), nil, []string{"192.0.2.1"}, []string{"192.0.2.1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var addresses []netip.Addr
			for _, text := range test.addresses {
				addresses = append(addresses, netip.MustParseAddr(text))
			}
			if diff := cmp.Diff(test.want, hosted.ServingNames(test.cluster, test.got, addresses)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	tests := map[string]struct {
		cluster    *api.TalosCluster
		management []string
		want       string // a part of it
	}{
		"nothing is known":              {shop(), nil, ""},
		"apart":                         {shop(), []string{"10.1.0.0/16", "fd00::/48"}, ""},
		"pods within":                   {shop(), []string{"10.240.0.0/12"}, "spec.network.podCIDRs: 10.244.0.0/16 shares addresses with 10.240.0.0/12"},
		"services around":               {shop(), []string{"10.96.3.0/24"}, "spec.network.serviceCIDRs: 10.96.0.0/16"},
		"of the other family":           {bank(), []string{"fd00:2::/32"}, "fd00:2::/112"},
		"an address of the other kind":  {bank(), []string{"10.3.0.0/16"}, ""},
		"what is declared, not default": {bank(), []string{"10.244.0.0/16"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var management []netip.Prefix
			for _, text := range test.management {
				management = append(management, netip.MustParsePrefix(text))
			}
			err := hosted.Overlap(test.cluster, management)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
