// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"net"
	"strings"
	"testing"
	"time"

	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/trusttest"
)

// begin opens a request with a token, and leaves the message for later.
func (r *running) begin(t *testing.T) grpc.ClientStream {
	t.Helper()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "token", trusttest.Token)
	opened, err := r.stranger("").Dial(t).NewStream(ctx, &grpc.StreamDesc{}, "/securityapi.SecurityService/Certificate")
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// established waits until the signer has as many connections.
func (r *running) established(t *testing.T, want string) {
	t.Helper()
	eventually(t, want+" connections", func() bool { return r.metric(t, `minos_signer_connections{state="established"}`) == want })
}

// isClosed says whether nobody takes connections there any more.
func isClosed(address string) bool {
	connection, err := net.Dial("tcp", address)
	if err == nil {
		_ = connection.Close()
	}
	return err != nil
}

func TestStopLetsRequestsEnd(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.StopTimeout, c.RequestTimeout = time.Minute, time.Minute })
	begun := r.begin(t)
	r.established(t, "1")
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	eventually(t, "no more connections are taken", func() bool { return isClosed(r.Address()) })
	if code, text := r.get(t, "/readyz"); code != 503 || !strings.Contains(text, "stopping") {
		t.Errorf("%d: %s", code, text)
	}
	closeIdle()
	if err := begun.SendMsg(&securityapi.CertificateRequest{Csr: r.request(t, "w1")}); err != nil {
		t.Fatal(err)
	}
	if err := begun.CloseSend(); err != nil {
		t.Fatal(err)
	}
	answer := &securityapi.CertificateResponse{}
	if err := begun.RecvMsg(answer); err != nil || len(answer.Crt) == 0 {
		t.Errorf("the request that had begun: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestStopWaitsForNobodyForEver has one of each kind that does not end by itself: without the limit of a second the test
// would take a minute.
func TestStopWaitsForNobodyForEver(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) {
		c.StopTimeout, c.RequestTimeout, c.HandshakeTimeout = time.Second, time.Minute, time.Minute
	})
	r.begin(t)
	halfHello(t, r.stranger("").Connect(t))
	r.stranger("").Connect(t)
	r.established(t, "1")
	eventually(t, "all are there", func() bool { return r.metric(t, `minos_signer_connections{state="handshake"}`) == "2" })
	closeIdle()
	begun := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(r.log.String(), `"stopped"`) {
		t.Error("it does not say so")
	}
}

// TestListenSaysWhy is the one mistake that ends a signer: there is no waiting for a port.
func TestListenSaysWhy(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	config := trust.Default()
	config.Listen = r.Address()
	_, err := trust.Listen(t.Context(), config, trust.World{Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "address already in use: free the port, or set --listen") {
		t.Error(err)
	}
	config.Listen, config.HTTP = "127.0.0.1:0", r.HTTPAddress()
	_, err = trust.Listen(t.Context(), config, trust.World{Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "address already in use: free the port, or set --http") {
		t.Error(err)
	}
}

func TestWithoutTheOtherPort(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.HTTP = "" })
	r.serves(t)
}
