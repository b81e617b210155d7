// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/trusttest"
)

// A running signer, with all that a test wants to touch.
type running struct {
	*trust.Signer
	ca     trusttest.CA
	caDir  *trusttest.Volume
	tlsDir *trusttest.Volume
	tokens *trusttest.Volume
	audit  *lines
	log    *lines
	clock  *clock
	reload chan struct{}
	stop   func() error
}

// start runs a signer with an authority, a certificate for 127.0.0.1 and localhost, and one token.
func start(t testing.TB, kind string, change func(*trust.Config)) *running {
	t.Helper()
	r := &running{audit: &lines{}, log: &lines{}, clock: &clock{}, reload: make(chan struct{})}
	r.ca = trusttest.NewCA(t, kind, time.Now())
	r.caDir = trusttest.NewVolume(t, map[string]string{"tls.crt": string(r.ca.CrtPEM), "tls.key": string(r.ca.KeyPEM)})
	certificate, key := r.ca.Serving(t, time.Now(), "127.0.0.1", "localhost", "api.shop.example.com", "10.0.0.5")
	r.tlsDir = trusttest.NewVolume(t, map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})
	r.tokens = trusttest.NewVolume(t, map[string]string{"web": trusttest.Token})
	config := trust.Default()
	config.Listen, config.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	config.Sources.CACert, config.Sources.CAKey = filepath.Join(r.caDir.Path, "tls.crt"), filepath.Join(r.caDir.Path, "tls.key")
	config.Sources.TLSCert, config.Sources.TLSKey = filepath.Join(r.tlsDir.Path, "tls.crt"), filepath.Join(r.tlsDir.Path, "tls.key")
	config.Sources.Tokens = r.tokens.Path
	config.ReloadEvery = time.Hour // tests say when
	if change != nil {
		change(&config)
	}
	var err error
	r.Signer, err = trust.Listen(t.Context(), config, trust.World{
		Audit: r.audit, Log: slog.New(slog.NewJSONHandler(r.log, nil)), Reload: r.reload, Now: r.clock.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.run(t)
	return r
}

// run lets it serve until the test ends, or until stop.
func (r *running) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// refresh makes it read its files, and returns when it has: the second nudge is taken only when the first is done.
func (r *running) refresh() {
	r.reload <- struct{}{}
	r.reload <- struct{}{}
}

// worker asks as a worker of this cluster does.
func (r *running) worker() trusttest.Worker {
	return trusttest.Worker{Endpoints: []string{r.Address()}, Accepted: trusttest.Accepted(r.ca), Token: trusttest.Token}
}

// stranger asks once, from an address.
func (r *running) stranger(source string) trusttest.Stranger {
	return trusttest.Stranger{Endpoint: r.Address(), Source: source, Trust: []trusttest.CA{r.ca}}
}

// request is one that a worker would send.
func (r *running) request(t testing.TB, name string, addresses ...string) []byte {
	t.Helper()
	request, _, err := trusttest.NewRequest(r.ca, name, addresses...)
	if err != nil {
		t.Fatal(err)
	}
	return request.X509CertificateRequestPEM
}

// get asks the other port.
func (r *running) get(t testing.TB, path string) (int, string) {
	t.Helper()
	answer, err := http.Get("http://" + r.HTTPAddress() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// metric is the value of a series, as text, or nothing.
func (r *running) metric(t testing.TB, series string) string {
	t.Helper()
	_, body := r.get(t, "/metrics")
	for line := range strings.Lines(body) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// clock is the real one, moved.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

// lines keeps what was written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// records are the lines, read.
func (l *lines) records(t testing.TB) (found []map[string]any) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		record := map[string]any{}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		found = append(found, record)
	}
	return found
}

// last is the last line, read.
func (l *lines) last(t testing.TB) map[string]any {
	t.Helper()
	records := l.records(t)
	if len(records) == 0 {
		t.Fatal("nothing was written")
	}
	return records[len(records)-1]
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came about: %s", what)
		}
		<-tick.C
	}
}

// shortly is enough for an answer, and spares the wait for a client that retries.
func shortly(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 700*time.Millisecond)
}

// closeIdle closes the connections that asking the other port leaves open.
func closeIdle() { http.DefaultClient.CloseIdleConnections() }
