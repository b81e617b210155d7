// SPDX-License-Identifier: Apache-2.0

package state

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/trusttest"
)

func TestIdentityIsCheckedWhole(t *testing.T) {
	tests := map[string]struct {
		sources func(*Sources)
		change  func(t *testing.T, d *desk)
		want    string
	}{
		"no authority":            {change: remove("ca.crt"), want: "ca-cert: DIR/ca.crt does not exist: put it there, or set --ca-cert"},
		"no key":                  {change: remove("ca.key"), want: "ca-key: DIR/ca.key does not exist: put it there, or set --ca-key"},
		"no serving key":          {change: remove("tls.key"), want: "tls-key: DIR/tls.key does not exist: put it there, or set --tls-key"},
		"an empty authority":      {change: put("ca.crt", ""), want: "ca-cert: DIR/ca.crt has no certificate in PEM"},
		"an empty key":            {change: put("ca.key", ""), want: "ca-key: DIR/ca.key has no private key in PEM"},
		"a key for a certificate": {change: func(t *testing.T, d *desk) { put("ca.crt", string(d.ca.KeyPEM))(t, d) }, want: `ca-cert: DIR/ca.crt has a block "ED25519 PRIVATE KEY": only certificates belong there`},
		"an expired serving one":  {change: func(_ *testing.T, d *desk) { d.time = moment.Add(30 * time.Hour) }, want: "tls-cert: DIR/tls.crt expired at 2026-11-16T11:00:00Z: renew it"},
		"a serving one to come": {change: func(_ *testing.T, d *desk) {
			d.ca = trusttest.NewCA(t, trusttest.Ed25519, moment.Add(-time.Hour))
			put2(t, d)
			d.time = moment.Add(-90 * time.Minute)
		}, want: "tls-cert: DIR/tls.crt is valid from 2026-11-15T11:00:00Z: is the clock right?"},
		"an expired authority":     {change: func(_ *testing.T, d *desk) { d.time = moment.Add(11 * 365 * 24 * time.Hour) }, want: "ca-key: DIR/ca.key and DIR/ca.crt: the authority expired at 2036-11-12T12:00:00Z: make a new one and rotate"},
		"a serving one for nobody": {change: func(t *testing.T, d *desk) { d.write(t, d.ca) }, want: "tls-cert: DIR/tls.crt has no names: give it those by which workers reach the signer"},
		"another serving key":      {change: func(t *testing.T, d *desk) { put("tls.key", string(d.ca.KeyPEM))(t, d) }, want: "tls-cert: DIR/tls.crt and DIR/tls.key: tls: private key type does not match public key type"},
		"accepted: no authority":   {sources: accept("more.crt"), change: func(t *testing.T, d *desk) { copyFile(t, d, "tls.crt", "more.crt") }, want: `accepted-cas: "" is not the certificate of an authority`},
		"accepted: not there":      {sources: accept("more.crt"), want: "accepted-cas: DIR/more.crt does not exist: put it there, or set --accepted-cas"},
		"own: no name":             {sources: func(s *Sources) { s.Own = []string{"a b"} }, want: `refuse: "a b" is neither a name, an address nor a network`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, func(s *Sources) {
				if test.sources != nil {
					test.sources(s)
				}
				for i, path := range s.Accepted {
					s.Accepted[i] = filepath.Join(filepath.Dir(s.CACert), path)
				}
			})
			if test.change != nil {
				test.change(t, d)
			}
			d.want(t, "identity: "+test.want, "tokens: taken over")
			if d.Current().Identity != nil {
				t.Error("it was taken over")
			}
		})
	}
}

func remove(name string) func(*testing.T, *desk) {
	return func(t *testing.T, d *desk) {
		if err := os.Remove(d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func put(name, text string) func(*testing.T, *desk) {
	return func(t *testing.T, d *desk) { trusttest.Write(t, d.folder, map[string]string{name: text}) }
}

// put2 writes the authority and a serving certificate again.
func put2(t *testing.T, d *desk) { d.write(t, d.ca, "api.example.com") }

func accept(name string) func(*Sources) {
	return func(s *Sources) { s.Accepted = []string{name} }
}

func copyFile(t *testing.T, d *desk, from, to string) {
	t.Helper()
	text, err := os.ReadFile(d.path(from))
	if err != nil {
		t.Fatal(err)
	}
	put(to, string(text))(t, d)
}

func TestAccepted(t *testing.T) {
	d := newDesk(t, nil)
	expired := trusttest.NewCA(t, trusttest.Ed25519, moment.Add(-20*365*24*time.Hour))
	folder := t.TempDir()
	trusttest.Write(t, folder, map[string]string{"1.crt": string(d.ca2.CrtPEM) + string(d.ca.CrtPEM), "2.crt": string(expired.CrtPEM), ".hidden": "no PEM"})
	trusttest.Write(t, d.folder, map[string]string{"ca.crt": string(d.ca.CrtPEM) + string(d.ca2.CrtPEM), "single.crt": string(d.ca2.CrtPEM)})
	d.sources.Accepted = []string{folder, d.path("single.crt")}
	d.Store = NewStore(d.sources, func() time.Time { return d.time })
	d.want(t, `identity: taken over; the accepted authority "O=talos" expired at 2016-11-17T12:00:00Z: remove it`, "tokens: taken over")
	if got, want := string(d.Current().Identity.Answer), string(d.ca2.CrtPEM)+string(expired.CrtPEM)+string(d.ca.CrtPEM); got != want {
		t.Errorf("the answer is\n%s, want\n%s", got, want)
	}
}

func TestWarnings(t *testing.T) {
	d := newDesk(t, nil)
	certificate, key := d.ca2.Serving(t, moment, "*.example.com", "10.0.0.5")
	trusttest.Write(t, d.folder, map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})
	got := strings.Join(d.refresh(t), "\n")
	for _, want := range []string{
		"no accepted authority vouches for the serving certificate",
		`the serving certificate is for "*.example.com": which of these workers dial cannot be known, so say it with --refuse`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
}

func TestOwnNames(t *testing.T) {
	d := newDesk(t, func(s *Sources) { s.Own = []string{"kubernetes.default.svc", "192.168.0.0/24"} })
	d.refresh(t)
	for asked, own := range map[string]bool{
		"api.example.com": true, "10.0.0.5": true, "kubernetes.default.svc": true, "192.168.0.9": true, "w1.example.com": false, "10.0.0.6": false,
	} {
		_, refusal := policy.Judge(d.Current().Identity.Own, policy.Refuse, policy.Rules{}, policy.Asked{Names: []string{asked}})
		if (refusal != nil) != own {
			t.Errorf("%s: %v", asked, refusal)
		}
	}
}

func TestServingItself(t *testing.T) {
	d := newDesk(t, func(s *Sources) {
		s.TLSCert, s.TLSKey = "", ""
		s.Serving = issue.Names{CommonName: "api.example.com", Names: []string{"api.example.com"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.5")}}
	})
	d.want(t, "identity: taken over", "tokens: taken over")
	first := d.Current().Identity
	if _, refusal := policy.Judge(first.Own, policy.Refuse, policy.Rules{}, policy.Asked{Names: []string{"api.example.com"}}); refusal == nil {
		t.Error("its name is not its own")
	}
	life := first.Serving.Leaf.NotAfter.Sub(moment)
	d.time = moment.Add(life * 2 / 5).Add(-time.Second)
	d.want(t)
	d.write(t, d.ca, "unused")
	d.want(t, "identity: taken over")
	if d.Current().Identity.Serving != first.Serving {
		t.Error("the certificate changed without need")
	}
	d.time = moment.Add(life / 2).Add(-time.Second) // before half of its life
	d.want(t, "identity: taken over")
	second := d.Current().Identity
	if second.Serving == first.Serving || !second.Serving.Leaf.NotAfter.After(first.Serving.Leaf.NotAfter) {
		t.Error("the certificate was not renewed before half of its life")
	}
	d.write(t, d.ca2, "unused")
	d.want(t, "identity: taken over")
	if err := d.Current().Identity.Serving.Leaf.CheckSignatureFrom(d.ca2.Crt); err != nil {
		t.Errorf("after a new authority: %v", err)
	}
}

// TestServingItselfWhileFilesAreBroken is the mistake that shows after a day.
func TestServingItselfWhileFilesAreBroken(t *testing.T) {
	d := newDesk(t, func(s *Sources) {
		s.TLSCert, s.TLSKey = "", ""
		s.Serving = issue.Names{Names: []string{"api.example.com"}}
	})
	d.refresh(t)
	first := d.Current().Identity
	trusttest.Write(t, d.folder, map[string]string{"ca.key": "no key"})
	d.want(t, "identity: ca-key: DIR/ca.key has no private key in PEM")
	for day := range 5 {
		d.time = d.time.Add(11 * time.Hour)
		d.refresh(t)
		now := d.Current().Identity
		if !now.Serving.Leaf.NotAfter.After(d.time.Add(12*time.Hour)) || now.Authority.Certificate != first.Authority.Certificate {
			t.Fatalf("after %d halves of a day it expires %s", day+1, now.Serving.Leaf.NotAfter)
		}
	}
	if len(d.Problems()) != 1 {
		t.Errorf("the mistake is forgotten: %v", d.Problems())
	}
}
