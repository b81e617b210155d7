// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	stdx509 "crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/trusttest"
)

// What real trustd does (Talos v1.14.1: internal/app/trustd, pkg/grpc/middleware/auth/basic), line by line. Where we differ
// on purpose, the line says how and why.
func TestConformance(t *testing.T) {
	old := trusttest.NewCA(t, trusttest.Ed25519, time.Now())
	more := t.TempDir()
	trusttest.Write(t, more, map[string]string{"old.crt": string(old.CrtPEM)})
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.Sources.Accepted = []string{more} })
	connection := r.stranger("").Dial(t)
	key := newKey(t)
	template := &stdx509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "w1.example.com", Organization: []string{"os:admin", "os:impersonator"}, OrganizationalUnit: []string{"unit"}},
		DNSNames: []string{"w1", "w1.example.com", "extra.example.com"}, IPAddresses: []net.IP{net.ParseIP("10.0.1.7"), net.ParseIP("fd00::7"), net.ParseIP("127.0.0.1")},
	}
	request := trusttest.Sign(t, template, key)
	before := time.Now().Truncate(time.Second)
	answer, err := trusttest.Ask(t.Context(), connection, trusttest.Token, request)
	if err != nil {
		t.Fatal(err)
	}
	got := trusttest.Leaf(t, answer.Crt)
	ask := func(token string, request []byte) error {
		_, err := trusttest.Ask(t.Context(), connection, token, request)
		return err
	}
	rows := []struct {
		what  string
		holds func(t *testing.T) bool
	}{
		{"validity is 24 hours", func(*testing.T) bool { return got.NotAfter.Sub(got.NotBefore) == 24*time.Hour }},
		{"it begins now, and not before", func(*testing.T) bool { return !got.NotBefore.Before(before) && got.NotBefore.Sub(before) < time.Minute }},
		{"key usage is digital signature", func(*testing.T) bool { return got.KeyUsage == stdx509.KeyUsageDigitalSignature }},
		{"extended key usage is server authentication alone", func(*testing.T) bool {
			return slices.Equal(got.ExtKeyUsage, []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}) && len(got.UnknownExtKeyUsage) == 0
		}},
		{"the organization is removed, and the request signed all the same", func(*testing.T) bool { return len(got.Subject.Organization) == 0 }},
		{"the common name is kept", func(*testing.T) bool { return got.Subject.CommonName == "w1.example.com" }},
		{"other parts of the subject are kept by trustd; here removed: no worker sends any", func(*testing.T) bool { return got.Subject.String() == "CN=w1.example.com" }},
		{"names are copied", func(*testing.T) bool { return slices.Equal(got.DNSNames, template.DNSNames) }},
		{"addresses are copied", func(*testing.T) bool { return slices.EqualFunc(got.IPAddresses, template.IPAddresses, net.IP.Equal) }},
		{"it is no authority, and says nothing about it", func(*testing.T) bool { return !got.IsCA && !got.BasicConstraintsValid }},
		{"it names its issuer's key", func(*testing.T) bool { return string(got.AuthorityKeyId) == string(r.ca.Crt.SubjectKeyId) }},
		{"the issuing authority vouches for it", func(*testing.T) bool { return got.CheckSignatureFrom(r.ca.Crt) == nil }},
		{"serial numbers are 128 bits of chance", func(t *testing.T) bool {
			again, err := trusttest.Ask(t.Context(), connection, trusttest.Token, request)
			return err == nil && trusttest.Leaf(t, again.Crt).SerialNumber.Cmp(got.SerialNumber) != 0 && got.SerialNumber.BitLen() > 96
		}},
		{"the answer holds all accepted authorities, the issuing one last", func(*testing.T) bool {
			return string(answer.Ca) == string(old.CrtPEM)+string(r.ca.CrtPEM)
		}},
		{"crt is PEM and one certificate", func(*testing.T) bool {
			block, rest := pem.Decode(answer.Crt)
			return block.Type == "CERTIFICATE" && len(rest) == 0
		}},
		{"no PEM: InvalidArgument, failed to decode CSR", func(*testing.T) bool {
			return isStatus(ask(trusttest.Token, []byte("no PEM")), codes.InvalidArgument, "failed to decode CSR")
		}},
		{"nothing: InvalidArgument, failed to decode CSR", func(*testing.T) bool {
			return isStatus(ask(trusttest.Token, nil), codes.InvalidArgument, "failed to decode CSR")
		}},
		{"no request in PEM: InvalidArgument", func(*testing.T) bool {
			return status.Code(ask(trusttest.Token, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("no")}))) == codes.InvalidArgument
		}},
		{"a request signed by another key: Internal", func(t *testing.T) bool {
			return status.Code(ask(trusttest.Token, trusttest.WithKey(t, request, newKey(t).Public()))) == codes.Internal
		}},
		{"a wrong token: Unauthenticated, invalid token", func(*testing.T) bool {
			return isStatus(ask("abcdef.0123456789abcdee", request), codes.Unauthenticated, "invalid token")
		}},
		{"an empty token: Unauthenticated, invalid token", func(*testing.T) bool {
			return isStatus(ask("", request), codes.Unauthenticated, "invalid token")
		}},
		{"no token: Unauthenticated, missing token", func(t *testing.T) bool {
			_, err := securityapi.NewSecurityServiceClient(connection).Certificate(t.Context(), &securityapi.CertificateRequest{Csr: request})
			return isStatus(err, codes.Unauthenticated, "missing token")
		}},
		{"the token comes before the request: no PEM and a wrong token", func(*testing.T) bool {
			return status.Code(ask("abcdef.0123456789abcdee", nil)) == codes.Unauthenticated
		}},
		{"another method: Unimplemented", func(t *testing.T) bool {
			return status.Code(call(t, connection, "/securityapi.SecurityService/Sign")) == codes.Unimplemented
		}},
		{"another service: Unimplemented", func(t *testing.T) bool {
			return status.Code(call(t, connection, "/machine.MachineService/Version")) == codes.Unimplemented
		}},
		{"streams: Unimplemented", func(t *testing.T) bool {
			return status.Code(stream(t, connection, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")) == codes.Unimplemented
		}},
		{"a request of another kind of key than the authority's: refused by trustd; here signed, for authorities may change their kind", func(t *testing.T) bool {
			other, _, err := trusttest.NewRequest(trusttest.NewCA(t, trusttest.ECDSA, time.Now()), "w1")
			return err == nil && ask(trusttest.Token, other.X509CertificateRequestPEM) == nil
		}},
	}
	for _, row := range rows {
		t.Run(row.what, func(t *testing.T) {
			if !row.holds(t) {
				t.Error("it does not")
			}
		})
	}
}

func TestConformanceOfTLS(t *testing.T) {
	r := start(t, trusttest.ECDSA, nil)
	shake := func(change func(*tls.Config)) (tls.ConnectionState, error) {
		config := trusttest.Trusting(r.ca)
		config.NextProtos = []string{"h2"}
		change(config)
		connection, err := tls.Dial("tcp", r.Address(), config)
		if err != nil {
			return tls.ConnectionState{}, err
		}
		defer func() { _ = connection.Close() }()
		return connection.ConnectionState(), nil
	}
	asked := false
	state, err := shake(func(c *tls.Config) {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked = true
			return &tls.Certificate{}, nil
		}
	})
	if err != nil || state.Version != tls.VersionTLS13 || state.NegotiatedProtocol != "h2" || asked {
		t.Errorf("version %x, protocol %q, client certificate asked for %v: %v", state.Version, state.NegotiatedProtocol, asked, err)
	}
	if state, err := shake(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }); err != nil || state.Version != tls.VersionTLS12 {
		t.Errorf("TLS 1.2: %v", err)
	}
	if _, err := shake(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	cache := tls.NewLRUClientSessionCache(1)
	for range 2 {
		if state, err := shake(func(c *tls.Config) { c.ClientSessionCache, c.MaxVersion = cache, tls.VersionTLS12 }); err != nil || state.DidResume {
			t.Errorf("a session was resumed: %v", err)
		}
	}
	strict := start(t, trusttest.ECDSA, func(c *trust.Config) { c.MinTLS = tls.VersionTLS13 })
	r = strict
	if _, err := shake(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }); err == nil {
		t.Error("TLS 1.2 is spoken, and 1.3 was asked for")
	}
}

func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func isStatus(err error, code codes.Code, text string) bool {
	return status.Code(err) == code && status.Convert(err).Message() == text
}

// call makes a unary call of any name.
func call(t *testing.T, connection *grpc.ClientConn, method string) error {
	t.Helper()
	return connection.Invoke(t.Context(), method, &securityapi.CertificateRequest{}, &securityapi.CertificateResponse{})
}

// stream opens a stream of any name, and reads from it.
func stream(t *testing.T, connection *grpc.ClientConn, method string) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	return opened.RecvMsg(&securityapi.CertificateResponse{})
}
