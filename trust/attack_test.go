// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"minos.dev/minos/trust"
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
