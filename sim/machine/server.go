// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	cosistate "github.com/cosi-project/runtime/pkg/state"
	cosiserver "github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// A server is the Talos API of one boot. In maintenance mode it serves everybody as a reader; with an identity it serves those
// whose certificate an authority of the cluster signed, in the roles that are in it. The middleware is Talos's own.
type server struct {
	boot  *boot
	state cosistate.State

	mutex    sync.Mutex
	current  *grpc.Server
	identity *identity
	served   tls.Certificate // while there is no identity
}

// newServer returns the API of a boot, not yet open.
func newServer(b *boot) *server { return &server{boot: b} }

// maintenance makes the server one for everybody.
func (s *server) maintenance() error {
	pair, err := selfSigned(subject{ips: []net.IP{net.IPv4(127, 0, 0, 1)}})
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.served = pair
	s.current = s.build(authz.ReadOnly)
	return nil
}

// identify gives the server an identity. Who is connected stays so; the next caller sees the new certificate.
func (s *server) identify(made *identity) {
	s.mutex.Lock()
	first := s.identity == nil
	s.identity = made
	s.mutex.Unlock()
	if !first {
		return
	}
	s.stop() // what served in maintenance mode
	s.boot.gate.shut()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.current = s.build(authz.Enabled)
}

// build makes the server of a mode.
func (s *server) build(mode authz.InjectorMode) *grpc.Server {
	if s.state == nil {
		s.state = newState()
	}
	injector := &authz.Injector{Mode: mode}
	authorizer := &authz.Authorizer{Rules: rules, FallbackRoles: admins}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: s.secure}
	made := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(secure)), grpc.MaxRecvMsgSize(constants.GRPCMaxMessageSize),
		grpc.ChainUnaryInterceptor(s.ownCall, injector.UnaryInterceptor(), authorizer.UnaryInterceptor()),
		grpc.ChainStreamInterceptor(s.ownStream, injector.StreamInterceptor(), authorizer.StreamInterceptor()),
	)
	machineapi.RegisterMachineServiceServer(made, &machineService{boot: s.boot})
	if atLeast(s.boot.image.Version, 13) {
		machineapi.RegisterLifecycleServiceServer(made, &lifecycleService{boot: s.boot})
		machineapi.RegisterImageServiceServer(made, &imageService{boot: s.boot})
	}
	cosi.RegisterStateServer(made, cosiserver.NewState(cosistate.Filter(s.state, sensitive)))
	s.boot.show(s.state)
	return made
}

// secure is the TLS of the next caller.
func (s *server) secure(*tls.ClientHelloInfo) (*tls.Config, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}, SessionTicketsDisabled: true}
	if s.identity == nil {
		config.Certificates = []tls.Certificate{s.served}
		return config, nil
	}
	config.Certificates = []tls.Certificate{s.identity.certificate}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, s.identity.clients
	config.VerifyPeerCertificate = forClients
	return config, nil
}

// forClients refuses certificates that are good for more than calling: one that trustd signed for a worker must not open the
// API of another (CVE-2022-36103).
func forClients(_ [][]byte, chains [][]*stdx509.Certificate) error {
	for _, chain := range chains {
		if len(chain) > 0 && slices.Equal(chain[0].ExtKeyUsage, []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}) {
			return nil
		}
	}
	return errors.New("certificate has invalid extended key usage")
}

// serve answers callers until the listener is closed.
func (s *server) serve(listener net.Listener) {
	s.mutex.Lock()
	current := s.current
	s.mutex.Unlock()
	if current != nil {
		_ = current.Serve(listener) // it ends because it was stopped
	}
}

// grace is for answers that are on their way.
const grace = time.Second

// stop ends the server after it has answered those who wait; those who watch are cut off.
func (s *server) stop() {
	s.mutex.Lock()
	current := s.current
	s.current = nil
	s.mutex.Unlock()
	if current == nil {
		return
	}
	timer := time.AfterFunc(grace, current.Stop)
	defer timer.Stop()
	current.GracefulStop()
}

// selfSigned is a certificate that nobody vouches for.
func selfSigned(who subject) (tls.Certificate, error) {
	authority, err := x509.NewSelfSignedCertificateAuthority(x509.ECDSA(true))
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := x509.NewKeyPair(authority, x509.IPAddresses(who.ips), x509.CommonName("maintenance-service.talos.dev"))
	if err != nil {
		return tls.Certificate{}, err
	}
	return *pair.Certificate, nil
}
