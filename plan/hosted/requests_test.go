// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"

	"minos.dev/minos/plan/hosted"
)

// asked is a kubelet's request, and what is wrong with it.
type asked struct {
	template x509.CertificateRequest
	object   certificatesv1.CertificateSigningRequest
	tail     string
}

// honest is as a kubelet asks.
func honest() *asked {
	return &asked{
		template: x509.CertificateRequest{
			Subject:  pkix.Name{CommonName: "system:node:web-1", Organization: []string{"system:nodes"}},
			DNSNames: []string{"web-1"}, IPAddresses: []net.IP{net.ParseIP("10.0.0.7"), net.ParseIP("2001:db8::7")},
		},
		object: certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeletServingSignerName, Username: "system:node:web-1", Groups: []string{"system:nodes", "system:authenticated"},
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth},
		}},
	}
}

// build makes the object of it.
func (a *asked) build(t *testing.T) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &a.template, key)
	if err != nil {
		t.Fatal(err)
	}
	object := a.object
	object.Spec.Request = append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), a.tail...)
	return &object
}

func TestApprove(t *testing.T) {
	machines := []hosted.Machine{
		{Node: "web-1", Names: []string{"web-1.example.com"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("2001:db8::7")}},
		{Node: "web-2", Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.8")}},
		{Node: "new-1"},
	}
	tests := map[string]struct {
		change func(*asked)
		want   string // a part of why not
	}{
		"as a kubelet asks": {func(*asked) {}, ""},
		"with another name": {func(a *asked) { a.template.DNSNames = []string{"web-1", "web-1.example.com"} }, ""},
		"with key encipherment": {func(a *asked) {
			a.object.Spec.Usages = append(a.object.Spec.Usages, certificatesv1.UsageKeyEncipherment)
		}, ""},
		"addresses alone": {func(a *asked) { a.template.DNSNames = nil }, ""},

		"another signer":            {func(a *asked) { a.object.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName }, "not a Node's request"},
		"not a Node":                {func(a *asked) { a.object.Spec.Username = "system:serviceaccount:default:web-1" }, "not a Node's request"},
		"not of the group":          {func(a *asked) { a.object.Spec.Groups = []string{"system:authenticated"} }, "not a Node's request"},
		"one Node for another":      {func(a *asked) { a.object.Spec.Username = "system:node:web-2" }, `asks for a certificate of "system:node:web-1"`},
		"an administrator":          {func(a *asked) { a.template.Subject.Organization = []string{"system:nodes", "system:masters"} }, "its organization"},
		"nobody's organization":     {func(a *asked) { a.template.Subject.Organization = nil }, "its organization"},
		"to be a client":            {func(a *asked) { a.object.Spec.Usages = append(a.object.Spec.Usages, certificatesv1.UsageClientAuth) }, "client auth"},
		"for nothing":               {func(a *asked) { a.object.Spec.Usages = a.object.Spec.Usages[:1] }, `usage "server auth" is missing`},
		"with an e-mail address":    {func(a *asked) { a.template.EmailAddresses = []string{"a@example.com"} }, "e-mail"},
		"with a URI":                {func(a *asked) { a.template.URIs = []*url.URL{{Scheme: "spiffe", Host: "a"}} }, "URIs"},
		"without a name":            {func(a *asked) { a.template.DNSNames, a.template.IPAddresses = nil, nil }, "neither a name nor an address"},
		"the API server's name":     {func(a *asked) { a.template.DNSNames = []string{"web-1", "kubernetes.default.svc"} }, `"kubernetes.default.svc" is not a name`},
		"another machine's name":    {func(a *asked) { a.template.DNSNames = []string{"web-2"} }, `"web-2" is not a name`},
		"another machine's address": {func(a *asked) { a.template.IPAddresses = []net.IP{net.ParseIP("10.0.0.8")} }, "10.0.0.8 is not an address of machine web-1"},
		"an unknown machine": {func(a *asked) {
			a.object.Spec.Username, a.template.Subject.CommonName = "system:node:evil", "system:node:evil"
		}, "no machine of the cluster is known by the name evil"},
		"a machine whose place has not told its addresses": {func(a *asked) {
			a.object.Spec.Username, a.template.Subject.CommonName, a.template.DNSNames = "system:node:new-1", "system:node:new-1", []string{"new-1"}
		}, "not an address of machine new-1, as far as is known"},
		"something behind it": {func(a *asked) { a.tail = "-----BEGIN CERTIFICATE REQUEST-----\n" }, "not one request in PEM"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := honest()
			test.change(request)
			err := hosted.Approve(request.build(t), machines)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	forged := honest().build(t)
	block, _ := pem.Decode(forged.Spec.Request)
	block.Bytes[len(block.Bytes)-1] ^= 1
	forged.Spec.Request = pem.EncodeToMemory(block)
	if err := hosted.Approve(forged, machines); err == nil || !strings.Contains(err.Error(), "not signed with its own key") {
		t.Errorf("a forged one: %v", err)
	}
}

func TestPending(t *testing.T) {
	request := honest().build(t)
	if !hosted.Pending(request) {
		t.Error("a new one is not pending")
	}
	for _, answer := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed} {
		answered := request.DeepCopy()
		answered.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: answer, Status: "True"}}
		if hosted.Pending(answered) {
			t.Errorf("one that is %s is pending", answer)
		}
	}
	request.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
	if hosted.Pending(request) {
		t.Error("that of another signer is ours")
	}
}
