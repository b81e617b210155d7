// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
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

// settled notes what there is of goroutines and memory, and returns a check that all of it is so again.
func settled(t *testing.T) func() {
	t.Helper()
	memory := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	goroutines, heap := runtime.NumGoroutine(), memory()
	return func() {
		t.Helper()
		eventually(t, "goroutines are as many as before", func() bool { return runtime.NumGoroutine() <= goroutines })
		const slack = 4 << 20 // for pools and tables that fill once
		if now := memory(); now > heap+slack {
			t.Errorf("%d kB are held, %d before", now>>10, heap>>10)
		}
	}
}

// serves asks as a worker does, with Talos's own client, and fails the test if that does not work.
func (r *running) serves(t *testing.T) {
	t.Helper()
	request, _, err := trusttest.NewRequest(r.ca, "w1", "10.0.1.7")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.worker().Ask(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

func TestGuessing(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	r.serves(t)
	check := settled(t)
	request := r.request(t, "w1", "10.0.1.7")
	thief := r.stranger("127.0.0.2")
	answers := map[codes.Code]int{}
	thief.Over(t, func(connection grpc.ClientConnInterface) {
		for i := range 300 {
			_, err := trusttest.Ask(t.Context(), connection, fmt.Sprintf("guess%d.0123456789abcdef", i), request)
			answers[status.Code(err)]++
		}
		// On a connection that is hung up, even the right token is not looked at.
		before := r.metric(t, "minos_signer_connections_accepted_total")
		_, err := trusttest.Ask(t.Context(), connection, trusttest.Token, request)
		if after := r.metric(t, "minos_signer_connections_accepted_total"); err == nil && before == after {
			t.Error("it was looked at")
		}
		eventually(t, "the connection is cut", func() bool { return r.metric(t, `minos_signer_connections{state="established"}`) == "0" || err == nil })
	})
	if answers[codes.Unauthenticated] < 60 || answers[codes.Unauthenticated] > 70 || answers[codes.OK] > 0 || answers[codes.ResourceExhausted] == 0 {
		t.Errorf("answers: %v", answers)
	}
	if lines := strings.Count(r.audit.String(), "\n"); lines > 75 {
		t.Errorf("it wrote %d lines", lines)
	}
	if text := r.audit.String() + r.log.String(); strings.Contains(text, "guess") || strings.Contains(text, "0123456789") {
		t.Error("a token is in the log")
	}
	if got := r.metric(t, `minos_signer_requests_total{pool="",result="limited"}`); got == "" {
		t.Error("it was not counted")
	}
	// Neither another source pays for it, nor one with a token behind the same address.
	r.serves(t)
	thief.Over(t, func(connection grpc.ClientConnInterface) {
		if _, err := trusttest.Ask(t.Context(), connection, trusttest.Token, request); err != nil {
			t.Errorf("behind the same address: %v", err)
		}
	})
	closeIdle()
	check()
}

// A pool whose token was changed, behind one address: its retries are answered as they should, and do not close the door.
func TestRetriesOfABrokenPool(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	request := r.request(t, "w1")
	connection := r.stranger("127.0.0.2").Dial(t)
	for minute := range 20 {
		for range 7 {
			if _, err := trusttest.Ask(t.Context(), connection, "abcdef.wrongwrongwrong", request); status.Code(err) != codes.Unauthenticated {
				t.Fatalf("in minute %d: %v", minute, err)
			}
		}
		r.clock.advance(time.Minute)
	}
	if _, err := trusttest.Ask(t.Context(), connection, trusttest.Token, request); err != nil {
		t.Errorf("with the right token at last: %v", err)
	}
}

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

// A folder that goes away must not take the workers with it.
func TestTheTokensFolderDisappears(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	if err := os.RemoveAll(r.tokens.Path); err != nil {
		t.Fatal(err)
	}
	r.refresh()
	r.serves(t)
	if got := r.metric(t, `minos_signer_reload_failing{part="tokens"}`); got != "1" {
		t.Errorf("reload_failing is %q", got)
	}
	if code, text := r.get(t, "/readyz"); code != 200 || !strings.Contains(text, "does not exist") || !strings.Contains(text, "older files serve meanwhile") {
		t.Errorf("%d: %s", code, text)
	}
	if !strings.Contains(r.log.String(), "files cannot be used") {
		t.Error("it is not in the log")
	}
}

// TestReloadStorm turns the folder over and over while workers ask: none of them may notice.
func TestReloadStorm(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.ReloadEvery = time.Millisecond })
	r.serves(t)
	closeIdle()
	check := settled(t)
	ctx, cancel := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	storm.Go(func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			files := map[string]string{"web": trusttest.Token, fmt.Sprintf("pool-%d", turn): fmt.Sprintf("storm%d.0123456789", turn)}
			if turn%5 == 0 {
				files["broken"] = "token: ["
			}
			if err := r.tokens.Try(files); err != nil {
				t.Error(err)
				return
			}
		}
	})
	storm.Go(func() {
		for ctx.Err() == nil {
			select {
			case r.reload <- struct{}{}:
			case <-ctx.Done():
			}
		}
	})
	for range 100 {
		r.serves(t)
	}
	cancel()
	storm.Wait()
	r.tokens.Project(t, map[string]string{"web": trusttest.Token})
	r.refresh()
	r.refresh()
	r.serves(t)
	_, metrics := r.get(t, "/metrics")
	if count := strings.Count(metrics, "\nminos_signer_requests_total{"); count > 6 {
		t.Errorf("%d series of requests are left over", count)
	}
	closeIdle()
	check()
}
