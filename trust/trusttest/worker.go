// SPDX-License-Identifier: Apache-2.0

package trusttest

import (
	"context"
	"crypto/rand"
	stdx509 "crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"net"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/grpc/gen"
	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// A Worker asks as a Talos worker does, with Talos's own client: a new connection for each request.
type Worker struct {
	Endpoints []string
	Accepted  []*x509.PEMEncodedCertificate
	Token     string
}

// NewRequest makes a request as a worker's controller does: a key of the authority's kind, the name as common name.
func NewRequest(ca CA, name string, addresses ...string) (*x509.CertificateSigningRequest, *x509.PEMEncodedCertificateAndKey, error) {
	var ips []net.IP
	for _, address := range append(addresses, "127.0.0.1") {
		ips = append(ips, net.ParseIP(address))
	}
	return x509.NewCSRAndIdentityFromCA(ca.Crt, x509.IPAddresses(ips), x509.DNSNames([]string{name}), x509.CommonName(name))
}

// Ask asks once. A refusal is retried by the client until the context ends, as on a real worker.
func (w Worker) Ask(ctx context.Context, request *x509.CertificateSigningRequest) (ca, certificate []byte, err error) {
	generator, err := gen.NewRemoteGenerator(w.Token, w.Endpoints, w.Accepted)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = first(err, generator.Close()) }()
	return generator.IdentityContext(ctx, request)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A Stranger is a client of our own: it asks once and does not retry, from any address of this machine.
type Stranger struct {
	Endpoint string
	Source   string // 127.0.0.2 and so on; empty lets the system choose
	Trust    []CA
}

// Dial prepares a connection, which is closed with the test.
func (s Stranger) Dial(tb testing.TB) *grpc.ClientConn {
	tb.Helper()
	connection, err := grpc.NewClient("passthrough:///"+s.Endpoint,
		grpc.WithTransportCredentials(credentials.NewTLS(Trusting(s.Trust...))), grpc.WithContextDialer(s.dial))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = connection.Close() }) // it may be closed already
	return connection
}

// Over does something over a connection that is closed afterwards.
func (s Stranger) Over(tb testing.TB, do func(grpc.ClientConnInterface)) {
	tb.Helper()
	connection := s.Dial(tb)
	do(connection)
	if err := connection.Close(); err != nil {
		tb.Error(err)
	}
}

func (s Stranger) dial(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{}
	if s.Source != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(s.Source)}
	}
	return dialer.DialContext(ctx, "tcp", address)
}

// Connect makes a bare TCP connection, which is closed with the test.
func (s Stranger) Connect(tb testing.TB) net.Conn {
	tb.Helper()
	connection, err := s.dial(tb.Context(), s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = connection.Close() })
	return connection
}

// Ask sends a request in PEM with a token over a connection, once.
func Ask(ctx context.Context, connection grpc.ClientConnInterface, token string, request []byte) (*securityapi.CertificateResponse, error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "token", token), 20*time.Second)
	defer cancel()
	return securityapi.NewSecurityServiceClient(connection).Certificate(ctx, &securityapi.CertificateRequest{Csr: request})
}

// Sign makes a request in PEM from a template, with the key given: what no honest worker would send.
func Sign(tb testing.TB, template *stdx509.CertificateRequest, key any) []byte {
	tb.Helper()
	der, err := stdx509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// WithKey puts another key into a request, whose signature then is not that key's.
func WithKey(tb testing.TB, request []byte, key any) []byte {
	tb.Helper()
	var parsed struct {
		Body struct {
			Version    int
			Subject    asn1.RawValue
			Key        asn1.RawValue
			Attributes asn1.RawValue
		}
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	block, _ := pem.Decode(request)
	if _, err := asn1.Unmarshal(block.Bytes, &parsed); err != nil {
		tb.Fatal(err)
	}
	der, err := stdx509.MarshalPKIXPublicKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	parsed.Body.Key = asn1.RawValue{FullBytes: der}
	changed, err := asn1.Marshal(parsed)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: changed})
}

// Wrap is a request in PEM as Talos's client takes it.
func Wrap(request []byte) *x509.CertificateSigningRequest {
	return &x509.CertificateSigningRequest{X509CertificateRequestPEM: request}
}
