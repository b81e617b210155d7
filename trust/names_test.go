// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	stdx509 "crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/trusttest"
)

// secret is the n-th token.
func secret(n int) string { return fmt.Sprintf("abcdef.%016d", n) }

// pools are tokens of every kind.
func pools(now time.Time) map[string]string {
	document := func(n int, more string) string { return fmt.Sprintf("token: %q\n%s", secret(n), more) }
	return map[string]string{
		"open":         secret(0),
		"narrow.yaml":  document(1, "networks: [10.1.0.0/16, 127.0.0.0/8]\nnames: [n-*, n-*.example.com]\n"),
		"sourced.yaml": document(2, "requireSource: true\n"),
		"expired.yaml": document(3, "expires: "+now.Add(-time.Minute).Format(time.RFC3339)+"\n"),
		"early.yaml":   document(4, "notBefore: "+now.Add(time.Hour).Format(time.RFC3339)+"\n"),
		"open-2.yaml":  document(5, "pool: open\n"),
	}
}

func TestNamesOverTheWire(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.Sources.Own = []string{"kube.example.com", "10.9.0.0/24"} })
	r.tokens.Project(t, pools(time.Now()))
	r.refresh()
	connection := r.stranger("127.0.0.2").Dial(t)
	tests := map[string]struct {
		token     int
		name      string
		addresses []string
		want      codes.Code
		reason    string
		pool      string
	}{
		"anything":                       {0, "w1", []string{"192.168.0.7"}, codes.OK, "", "open"},
		"the second token of a pool":     {5, "w1", []string{"192.168.0.7"}, codes.OK, "", "open"},
		"the endpoint's name":            {0, "api.shop.example.com", nil, codes.PermissionDenied, `"api.shop.example.com" belongs to the control plane or the signer`, "open"},
		"the endpoint's address":         {0, "w1", []string{"10.0.0.5"}, codes.PermissionDenied, `"10.0.0.5" belongs to the control plane or the signer`, "open"},
		"a name that was given":          {0, "kube.example.com", nil, codes.PermissionDenied, `"kube.example.com" belongs to the control plane or the signer`, "open"},
		"an address that was given":      {0, "w1", []string{"10.9.0.77"}, codes.PermissionDenied, `"10.9.0.77" belongs to the control plane or the signer`, "open"},
		"within the token's rules":       {1, "n-1.example.com", []string{"10.1.2.3"}, codes.OK, "", "narrow"},
		"outside of its networks":        {1, "n-1", []string{"10.2.2.3"}, codes.PermissionDenied, "address 10.2.2.3 is not in a network that this token allows", "narrow"},
		"outside of its names":           {1, "w1", []string{"10.1.2.3"}, codes.PermissionDenied, `name "w1" is not one that this token allows`, "narrow"},
		"from its address":               {2, "w1", []string{"127.0.0.2"}, codes.OK, "", "sourced"},
		"from another address":           {2, "w1", []string{"10.1.2.3"}, codes.PermissionDenied, "the request comes from 127.0.0.2, which is not one of the addresses that it asks for", "sourced"},
		"with a token that has expired":  {3, "w1", nil, codes.Unauthenticated, "token is expired", "expired"},
		"with a token before its time":   {4, "w1", nil, codes.Unauthenticated, "token is early", "early"},
		"with a token that nobody knows": {9, "w1", nil, codes.Unauthenticated, "token is unknown", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer, err := trusttest.Ask(t.Context(), connection, secret(test.token), r.request(t, test.name, test.addresses...))
			if status.Code(err) != test.want {
				t.Fatalf("%v, want %s", err, test.want)
			}
			if test.want == codes.Unauthenticated && !isStatus(err, codes.Unauthenticated, "invalid token") {
				t.Errorf("it tells the one who asked: %v", err)
			}
			want := map[string]any{
				"level": "WARN", "msg": "certificate", "result": map[codes.Code]string{codes.OK: "issued", codes.PermissionDenied: "refused", codes.Unauthenticated: "unauthenticated"}[test.want],
				"code": test.want.String(), "source": "127.0.0.2",
			}
			for key, value := range map[string]string{"reason": test.reason, "pool": test.pool} {
				if value != "" {
					want[key] = value
				}
			}
			if test.want == codes.OK {
				want["level"] = "INFO"
				want["serial"] = fmt.Sprintf("%032x", trusttest.Leaf(t, answer.Crt).SerialNumber)
			}
			if test.want != codes.Unauthenticated {
				want["commonName"], want["names"], want["key"] = test.name, []any{test.name}, "Ed25519"
			}
			ignored := cmpopts.IgnoreMapEntries(func(key string, _ any) bool {
				return slices.Contains([]string{"time", "milliseconds", "notAfter", "addresses", "file"}, key)
			})
			if diff := cmp.Diff(want, r.audit.last(t), ignored); diff != "" {
				t.Error(diff)
			}
		})
	}
	if strings.Contains(r.audit.String()+r.log.String(), "abcdef") {
		t.Error("a token is in the log")
	}
}

// TestTheTimeOfATokenComesAndGoes needs no reload: the clock is enough.
func TestTheTimeOfATokenComesAndGoes(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	now := time.Now()
	r.tokens.Project(t, map[string]string{"web": fmt.Sprintf("token: %s\nnotBefore: %s\nexpires: %s\n", secret(1),
		now.Add(time.Hour).Format(time.RFC3339), now.Add(2*time.Hour).Format(time.RFC3339))})
	r.refresh()
	connection := r.stranger("").Dial(t)
	for _, want := range []codes.Code{codes.Unauthenticated, codes.OK, codes.Unauthenticated} {
		if _, err := trusttest.Ask(t.Context(), connection, secret(1), r.request(t, "w1")); status.Code(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
		r.clock.advance(65 * time.Minute)
	}
}

func TestOwnNamesLeftOutOrIn(t *testing.T) {
	for mode, want := range map[policy.Mode][]string{
		policy.Drop: {"w1"}, policy.Allow: {"w1", "api.shop.example.com"},
	} {
		r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.OwnNames = mode })
		request := trusttest.Sign(t, &stdx509.CertificateRequest{Subject: pkix.Name{CommonName: "w1"}, DNSNames: []string{"w1", "api.shop.example.com"}}, newKey(t))
		answer, err := trusttest.Ask(t.Context(), r.stranger("").Dial(t), trusttest.Token, request)
		if err != nil {
			t.Fatal(err)
		}
		if got := trusttest.Leaf(t, answer.Crt).DNSNames; !slices.Equal(got, want) {
			t.Errorf("%s: %v", mode, got)
		}
		if last := r.audit.last(t); last["level"] != "WARN" || fmt.Sprint(last["own"]) != "[api.shop.example.com]" {
			t.Errorf("%s: the log says %v", mode, last)
		}
		if got := r.metric(t, "minos_signer_own_names_total"); got != "1" {
			t.Errorf("%s: counted %s", mode, got)
		}
	}
}

// TestRightsThatAreAskedFor is CVE-2022-36103 over the wire: what is asked for beyond a name is not had.
func TestRightsThatAreAskedFor(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	request := trusttest.Sign(t, &stdx509.CertificateRequest{
		Subject: pkix.Name{CommonName: "w1", Organization: []string{"os:admin"}},
		ExtraExtensions: []pkix.Extension{
			{Id: []int{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 0x03, 0x01, 0x01, 0xff}},                           // CA: true
			{Id: []int{2, 5, 29, 15}, Critical: true, Value: []byte{0x03, 0x02, 0x01, 0x06}},                                 // certSign, crlSign
			{Id: []int{2, 5, 29, 37}, Value: []byte{0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02}}, // clientAuth
		},
	}, newKey(t))
	answer, err := trusttest.Ask(t.Context(), r.stranger("").Dial(t), trusttest.Token, request)
	if err != nil {
		t.Fatal(err)
	}
	got := trusttest.Leaf(t, answer.Crt)
	if got.IsCA || got.KeyUsage != stdx509.KeyUsageDigitalSignature || len(got.Subject.Organization) > 0 ||
		!slices.Equal(got.ExtKeyUsage, []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}) {
		t.Errorf("%+v", got)
	}
	// And apid would not have it as a client's certificate.
	if _, err := got.Verify(stdx509.VerifyOptions{Roots: r.ca.Pool(), KeyUsages: []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("it is good for a client")
	}
}
