// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"

	"minos.dev/minos/trust/trusttest"
)

// checkWorker asks with Talos's own client and holds what it gets to what apid will do with it.
func checkWorker(t *testing.T, worker trusttest.Worker, request *x509.CertificateSigningRequest, key []byte) {
	t.Helper()
	accepted, certificate, err := worker.Ask(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if string(accepted) != string(worker.Accepted[0].Crt) {
		t.Error("the answer does not hold the authority")
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		t.Error(err)
	}
	leaf, roots := trusttest.Leaf(t, certificate), stdx509.NewCertPool()
	roots.AppendCertsFromPEM(accepted)
	for _, name := range []string{"w1.shop.example.com", "10.0.1.7", "fd00::7", "127.0.0.1"} {
		options := stdx509.VerifyOptions{Roots: roots, DNSName: name, KeyUsages: []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}}
		if _, err := leaf.Verify(options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTalosWorker(t *testing.T) {
	for _, kind := range []string{trusttest.Ed25519, trusttest.ECDSA, trusttest.RSA} {
		t.Run(kind, func(t *testing.T) {
			r := start(t, kind, nil)
			_, port, err := net.SplitHostPort(r.Address())
			if err != nil {
				t.Fatal(err)
			}
			dead := deadEndpoint(t)
			// One for all: a key of Talos's RSA kind takes seconds.
			request, identity, err := trusttest.NewRequest(r.ca, "w1.shop.example.com", "10.0.1.7", "fd00::7")
			if err != nil {
				t.Fatal(err)
			}
			for name, endpoints := range map[string][]string{
				"an address":           {r.Address()},
				"a name":               {"localhost:" + port},
				"both":                 {r.Address(), "localhost:" + port},
				"one of them is dead":  {dead, r.Address()},
				"most of them are":     {dead, "127.0.0.3:" + port, "localhost:" + port, dead},
				"one without our name": {"127.0.0.1:" + port, "127.0.0.9:" + port},
			} {
				t.Run(name, func(t *testing.T) {
					worker := r.worker()
					worker.Endpoints = endpoints
					checkWorker(t, worker, request, identity.Key)
				})
			}
		})
	}
}

// deadEndpoint is a port at which nobody listens.
func deadEndpoint(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// A worker is given both authorities while they change; its key is then of the kind of the last one.
func TestTalosWorkerWithAKeyOfAnotherKind(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	next := trusttest.NewCA(t, trusttest.ECDSA, time.Now())
	request, _, err := trusttest.NewRequest(next, "w1")
	if err != nil {
		t.Fatal(err)
	}
	worker := r.worker()
	worker.Accepted = trusttest.Accepted(r.ca, next)
	_, certificate, err := worker.Ask(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if leaf := trusttest.Leaf(t, certificate); leaf.PublicKeyAlgorithm != stdx509.ECDSA || leaf.SignatureAlgorithm != stdx509.PureEd25519 {
		t.Errorf("%s signed with %s", leaf.PublicKeyAlgorithm, leaf.SignatureAlgorithm)
	}
}

// A worker that trusts another authority does not talk to us, and gives us no token.
func TestTalosWorkerOfAnotherCluster(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	worker := r.worker()
	worker.Accepted = []*x509.PEMEncodedCertificate{{Crt: trusttest.NewCA(t, trusttest.Ed25519, time.Now()).CrtPEM}}
	request, _, err := trusttest.NewRequest(r.ca, "w1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := shortly(t)
	defer cancel()
	if _, _, err := worker.Ask(ctx, request); err == nil {
		t.Error("it talked to a stranger")
	}
	if text := r.audit.String(); text != "" {
		t.Errorf("a request arrived: %s", text)
	}
}
