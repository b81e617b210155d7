// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/trusttest"
)

// clients is how many workers ask at once. The cost of a certificate does not depend on it.
const clients = 8

// BenchmarkSigner asks for certificates, of this program and of the floor: a server of grpc-go that only signs. Both run in
// processes of their own and take turns; what counts is their processor time for each certificate, as a ratio.
func BenchmarkSigner(b *testing.B) {
	for _, kind := range []string{"fresh", "reused"} {
		b.Run("connections="+kind, func(b *testing.B) {
			path, ca := folder(b)
			ours := launch(b, nil, built(b), append(flags(path), "--source-rate", "1000000", "--max-connections-per-source", "512")...)
			floor := launch(b, []string{floorVariable + "=" + path}, os.Args[0])
			idle := ours.memory(b, "VmRSS")
			bills := map[*process]*bill{ours: {}, floor: {}}
			turns := []*process{ours, floor}
			for _, p := range turns {
				p.load(b, ca, kind, 200) // what is done once is done
			}
			for b.Loop() {
				// Short turns and by change of order: whoever else uses this machine then disturbs both alike.
				for range 6 {
					for _, p := range turns {
						bills[p].add(b, p, ca, kind)
					}
					slices.Reverse(turns)
				}
			}
			b.ReportMetric(0, "ns/op") // the sum of both says nothing
			b.ReportMetric(bills[ours].each(), "cpu-ms/cert")
			b.ReportMetric(bills[floor].each(), "floor-cpu-ms/cert")
			b.ReportMetric(bills[ours].each()/bills[floor].each(), "times-the-floor")
			b.ReportMetric(bills[ours].rate(), "certs/s")
			b.ReportMetric(bills[floor].rate(), "floor-certs/s")
			b.ReportMetric(idle, "idle-MB")
			b.ReportMetric(ours.memory(b, "VmHWM"), "peak-MB")
			b.ReportMetric(floor.memory(b, "VmHWM"), "floor-peak-MB")
		})
	}
}

// A bill is what certificates cost a process.
type bill struct {
	cpu, wall time.Duration
	count     int
}

// add lets a process earn a bit more.
func (b *bill) add(tb *testing.B, p *process, ca trusttest.CA, kind string) {
	tb.Helper()
	const count = 80
	cpu, begun := p.cpu(tb), time.Now()
	p.load(tb, ca, kind, count)
	b.cpu += p.cpu(tb) - cpu
	b.wall += time.Since(begun)
	b.count += count
}

func (b *bill) each() float64 { return b.cpu.Seconds() * 1000 / float64(b.count) }

func (b *bill) rate() float64 { return float64(b.count) / b.wall.Seconds() }

// cpu is the processor time of a process so far.
func (p *process) cpu(b *testing.B) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Skipf("no /proc: %v", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // of the user, of the system
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// load lets workers ask for so many certificates.
func (p *process) load(b *testing.B, ca trusttest.CA, kind string, count int) {
	b.Helper()
	stranger := trusttest.Stranger{Endpoint: p.listen, Trust: []trusttest.CA{ca}}
	request, _, err := trusttest.NewRequest(ca, "w1", "10.0.1.7")
	if err != nil {
		b.Fatal(err)
	}
	ask := func(connection grpc.ClientConnInterface) {
		if _, err := trusttest.Ask(b.Context(), connection, trusttest.Token, request.X509CertificateRequestPEM); err != nil {
			b.Error(err)
		}
	}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			if kind == "fresh" {
				for range count / clients {
					stranger.Over(b, ask)
				}
				return
			}
			stranger.Over(b, func(connection grpc.ClientConnInterface) {
				for range count / clients {
					ask(connection)
				}
			})
		})
	}
	all.Wait()
}

// floor serves until it is killed: no token, no rules, no limits, no log; nothing but the certificate.
func floor(folder string) {
	read := func(name string) []byte {
		text, err := os.ReadFile(folder + "/" + name)
		if err != nil {
			panic(err)
		}
		return text
	}
	key, err := issue.ParseKey(read("ca.key"))
	if err != nil {
		panic(err)
	}
	authorities, err := issue.ParseCertificates(read("ca.crt"))
	if err != nil {
		panic(err)
	}
	serving, err := tls.X509KeyPair(read("tls.crt"), read("tls.key"))
	if err != nil {
		panic(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{serving}, SessionTicketsDisabled: true, MinVersion: tls.VersionTLS12}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
	securityapi.RegisterSecurityServiceServer(server, &bare{authority: authorities[0], key: key, answer: read("ca.crt")})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "{\"listen\":%q}\n", listener.Addr())
	panic(server.Serve(listener))
}

// bare signs.
type bare struct {
	securityapi.UnimplementedSecurityServiceServer
	authority *x509.Certificate
	key       any
	answer    []byte
}

// Certificate signs, with the same profile.
func (s *bare) Certificate(_ context.Context, in *securityapi.CertificateRequest) (*securityapi.CertificateResponse, error) {
	block, _ := pem.Decode(in.Csr)
	if block == nil {
		return nil, status.Error(codes.InvalidArgument, "no PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := request.CheckSignature(); err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: request.Subject.CommonName},
		NotBefore: time.Now(), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: request.DNSNames, IPAddresses: request.IPAddresses,
	}, s.authority, request.PublicKey, s.key)
	if err != nil {
		return nil, err
	}
	return &securityapi.CertificateResponse{Ca: s.answer, Crt: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}
