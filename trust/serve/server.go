// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/limit"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/state"
)

// Options are what a server is made of.
type Options struct {
	Store   *state.Store
	Metrics *Metrics
	Audit   io.Writer
	Now     func() time.Time

	// Mode is what happens to a request that asks for an own name.
	Mode policy.Mode
	// Validity is the life of a certificate.
	Validity time.Duration
	// Room and Rates are what one source, and all together, may take.
	Room  limit.Room
	Rates limit.Rates
	// Handshake and Patience are the time for a handshake and for the message of a request.
	Handshake, Patience time.Duration
	// MinTLS is the lowest version that is spoken.
	MinTLS uint16
}

// sources is how many sources are remembered: about 300 bytes each.
const sources = 16384

// calls are how many requests are at work at once. Each may hold a message of the largest size, so this bounds memory as
// the gate does for connections, and as fairly: a message that does not come makes room for one that does.
var calls = limit.Room{Connections: 128, PerSource: 64, Handshakes: 128}

// A Server is trustd's protocol on a listener.
type Server struct {
	grpc  *grpc.Server
	guard *guard
}

// NewServer makes a server that listens to nobody yet.
func NewServer(o Options) *Server {
	guard := &guard{limit.NewTable(o.Rates, sources), limit.NewGate(o.Room), o.Metrics, o.Now}
	o.Metrics.watch(o.Store, guard)
	service := &service{
		store: o.Store, guard: guard, audit: newAudit(o.Audit, o.Metrics), metrics: o.Metrics, now: o.Now,
		mode: o.Mode, validity: o.Validity, patience: o.Patience, calls: limit.NewGate(calls),
	}
	server := grpc.NewServer(append(bounds(o),
		grpc.Creds(handshakes{credentials.NewTLS(tlsConfig(o)), guard}),
		grpc.UnknownServiceHandler(service.unknown),
		grpc.WaitForHandlers(true),
	)...)
	server.RegisterService(service.description(), nil)
	return &Server{server, guard}
}

// bounds are gRPC's own limits. A worker makes one call of a few kilobytes and leaves: what is far from that is not one.
func bounds(o Options) []grpc.ServerOption {
	const buffer = 4 << 10
	return []grpc.ServerOption{
		grpc.ConnectionTimeout(o.Handshake),
		grpc.MaxConcurrentStreams(4),
		grpc.MaxRecvMsgSize(issue.MaxRequest + 1<<10),
		grpc.MaxHeaderListSize(8 << 10),
		grpc.ReadBufferSize(buffer),
		grpc.WriteBufferSize(buffer),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: 30 * time.Second, MaxConnectionAge: 5 * time.Minute, MaxConnectionAgeGrace: 10 * time.Second,
			Time: 20 * time.Second, Timeout: 10 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second}),
	}
}

var errNoIdentity = errors.New("the signer could not read its files yet")

// tlsConfig is trustd's: server authentication only, no tickets. The certificate is looked up at each handshake.
func tlsConfig(o Options) *tls.Config {
	return &tls.Config{
		MinVersion:             o.MinTLS,
		NextProtos:             []string{"h2"},
		ClientAuth:             tls.NoClientCert,
		SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			identity := o.Store.Current().Identity
			if identity == nil {
				return nil, errNoIdentity
			}
			return identity.Serving, nil
		},
	}
}

// Serve answers until Stop.
func (s *Server) Serve(on net.Listener) error {
	if err := s.grpc.Serve(&listener{on, s.guard}); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// handshakeGrace is how long a handshake that has begun may go on while the signer stops.
const handshakeGrace = time.Second

// Stop takes no more connections, lets requests end, and cuts those that do not until the context does.
func (s *Server) Stop(ctx context.Context) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
		return
	case <-time.After(handshakeGrace):
	case <-ctx.Done():
	}
	// gRPC waits for handshakes without end, even if it is told to stop at once.
	s.guard.gate.Shut()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.grpc.Stop()
		<-stopped
	}
}
