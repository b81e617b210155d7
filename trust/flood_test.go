// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/limit"
	"minos.dev/minos/trust/trusttest"
)

func TestSilence(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) {
		c.Room = limit.Room{Connections: 60, PerSource: 40, Handshakes: 30}
		c.HandshakeTimeout = 3 * time.Second
	})
	r.serves(t)
	closeIdle()
	check := settled(t)
	var open []net.Conn
	for i := range 200 { // from four addresses, each more than its share
		open = append(open, r.stranger(fmt.Sprintf("127.0.0.%d", 2+i%4)).Connect(t))
	}
	slow := tls.Client(r.stranger("127.0.0.6").Connect(t), &tls.Config{InsecureSkipVerify: true})
	halfHello(t, slow.NetConn())
	for range 20 {
		r.serves(t)
	}
	if got := r.metric(t, "minos_signer_connections_displaced_total"); got == "0" {
		t.Error("nobody made room")
	}
	eventually(t, "the silent ones are gone, without our doing", func() bool {
		return r.metric(t, `minos_signer_connections{state="handshake"}`) == "0"
	})
	for _, connection := range open {
		_ = connection.Close()
	}
	_ = slow.NetConn().Close()
	closeIdle()
	check()
}

// halfHello begins a handshake and does not end it.
func halfHello(t *testing.T, connection net.Conn) {
	t.Helper()
	if _, err := connection.Write([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}); err != nil {
		t.Fatal(err)
	}
}

// A handshake that is done, and then nothing: neither a greeting of HTTP/2 nor, after one, a request.
func TestSilenceAfterTheHandshake(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.HandshakeTimeout = 500 * time.Millisecond })
	config := trusttest.Trusting(r.ca)
	config.NextProtos = []string{"h2"}
	connection, err := tls.Dial("tcp", r.Address(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.Copy(io.Discard, connection); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Log(err) // it was closed, which is the point
	}
	eventually(t, "it is gone", func() bool { return r.metric(t, `minos_signer_connections{state="established"}`) == "0" })
}

// A valid token, and then a message that does not come, or only half.
func TestMessagesThatDoNotCome(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.RequestTimeout = 300 * time.Millisecond })
	connection := r.stranger("127.0.0.2").Dial(t)
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "token", trusttest.Token), 20*time.Second)
	defer cancel()
	opened, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/securityapi.SecurityService/Certificate")
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.RecvMsg(&securityapi.CertificateResponse{}); status.Code(err) != codes.Unavailable {
		t.Errorf("it waits: %v", err)
	}
	eventually(t, "it is written down", func() bool { return strings.Contains(r.audit.String(), `"incomplete"`) })
	r.serves(t)
}

// A thief with a valid token holds as many requests open as it can: it has its share, and others are served.
func TestMessagesThatDoNotComeFromAThief(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.RequestTimeout = time.Minute })
	r.serves(t)
	closeIdle()
	check := settled(t)
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "token", trusttest.Token))
	var cut atomic.Int64
	var streams sync.WaitGroup
	var connections []*grpc.ClientConn
	for n := range 50 {
		connection := r.stranger(fmt.Sprintf("127.0.0.%d", 2+n%2)).Dial(t)
		connections = append(connections, connection)
		for range 4 {
			streams.Go(func() {
				opened, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/securityapi.SecurityService/Certificate")
				if err == nil {
					err = opened.RecvMsg(&securityapi.CertificateResponse{})
				}
				if ctx.Err() == nil && err != nil {
					cut.Add(1)
				}
			})
		}
	}
	// Two sources with a hundred each, and sixty-four for each of them.
	eventually(t, "what is beyond its share is cut", func() bool { return cut.Load() >= 200-2*64 })
	for range 10 {
		r.serves(t)
	}
	cancel()
	streams.Wait()
	for _, connection := range connections {
		_ = connection.Close()
	}
	closeIdle()
	check()
}

func TestOversized(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	connection := r.stranger("127.0.0.2").Dial(t)
	for name, test := range map[string]struct {
		token   string
		request []byte
		want    []codes.Code
	}{
		"a large request":          {trusttest.Token, make([]byte, 40<<10), []codes.Code{codes.ResourceExhausted}},
		"one just too large":       {trusttest.Token, make([]byte, 33<<10-100), []codes.Code{codes.InvalidArgument}},
		"a large one of strangers": {"abcdef.wrongwrongwrong", make([]byte, 1<<20), []codes.Code{codes.Unauthenticated}},
		"a large token":            {strings.Repeat("a", 100<<10), nil, []codes.Code{codes.Internal, codes.Unavailable, codes.ResourceExhausted, codes.Unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trusttest.Ask(t.Context(), connection, test.token, test.request)
			for _, code := range test.want {
				if status.Code(err) == code {
					return
				}
			}
			t.Errorf("%v, want one of %v", err, test.want)
		})
	}
	r.serves(t)
}
