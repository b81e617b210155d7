// SPDX-License-Identifier: Apache-2.0

package trust_test

import (
	"context"
	stdx509 "crypto/x509"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/trusttest"
)

// A stream is workers that ask without end, each over a new connection. It does not retry: one failure is a failure.
type streamOfWorkers struct {
	r        *running
	trust    []trusttest.CA
	token    atomic.Pointer[string]
	served   [6]atomic.Int64 // by each
	byNew    atomic.Int64    // signed by the last of the authorities
	failures chan error
}

func (s *streamOfWorkers) run(ctx context.Context, t *testing.T) *sync.WaitGroup {
	t.Helper()
	var all sync.WaitGroup
	for n := range s.served {
		request := s.r.request(t, fmt.Sprintf("w%d", n))
		all.Go(func() {
			for ctx.Err() == nil {
				if err := s.once(t, n, request); err != nil {
					s.failures <- err
					return
				}
				s.served[n].Add(1)
			}
		})
	}
	return &all
}

// once asks, by turns with Talos's own client and with ours, and holds the certificate to the authorities of the answer.
func (s *streamOfWorkers) once(t *testing.T, n int, request []byte) (err error) {
	var accepted, certificate []byte
	token := *s.token.Load()
	if n%2 == 0 {
		stranger := trusttest.Stranger{Endpoint: s.r.Address(), Source: fmt.Sprintf("127.0.1.%d", n+1), Trust: s.trust}
		stranger.Over(t, func(connection grpc.ClientConnInterface) {
			answer, failure := trusttest.Ask(context.Background(), connection, token, request)
			accepted, certificate, err = answer.GetCa(), answer.GetCrt(), failure
		})
	} else {
		worker := trusttest.Worker{Endpoints: []string{s.r.Address()}, Accepted: trusttest.Accepted(s.trust...), Token: token}
		accepted, certificate, err = worker.Ask(context.Background(), trusttest.Wrap(request))
	}
	if err != nil {
		return err
	}
	roots := stdx509.NewCertPool()
	roots.AppendCertsFromPEM(accepted)
	leaf := trusttest.Leaf(t, certificate)
	if leaf.CheckSignatureFrom(s.trust[len(s.trust)-1].Crt) == nil {
		s.byNew.Add(1)
	}
	_, err = leaf.Verify(stdx509.VerifyOptions{Roots: roots})
	return err
}

// further waits until each of them was served some more times, and fails if one was not: by then, all have seen what
// changed before.
func (s *streamOfWorkers) further(t *testing.T) {
	t.Helper()
	var wants [len(s.served)]int64
	for n := range s.served {
		wants[n] = s.served[n].Load() + 5
	}
	for n, want := range wants {
		eventually(t, "workers are served", func() bool {
			select {
			case err := <-s.failures:
				t.Fatal(err)
			default:
			}
			return s.served[n].Load() >= want
		})
	}
}

func (s *streamOfWorkers) total() (all int64) {
	for n := range s.served {
		all += s.served[n].Load()
	}
	return all
}

func TestRotation(t *testing.T) {
	for name, servesItself := range map[string]bool{"with a serving certificate of others": false, "with one of its own": true} {
		t.Run(name, func(t *testing.T) {
			accepted := trusttest.NewVolume(t, nil)
			r := start(t, trusttest.Ed25519, func(c *trust.Config) {
				c.SourceRate = 1e6 // all these workers are one machine
				c.ReloadEvery = 10 * time.Millisecond
				c.Sources.Accepted = []string{accepted.Path}
				if servesItself {
					c.Sources.TLSCert, c.Sources.TLSKey = "", ""
					c.Sources.Serving = issue.Names{CommonName: "api.example.com", Names: []string{"api.example.com"}, Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
				}
			})
			next := trusttest.NewCA(t, trusttest.ECDSA, time.Now())
			stream := &streamOfWorkers{r: r, trust: []trusttest.CA{r.ca, next}, failures: make(chan error, 16)}
			use := func(token string) { stream.token.Store(&token) }
			use(trusttest.Token)
			ctx, cancel := context.WithCancel(t.Context())
			workers := stream.run(ctx, t)
			defer workers.Wait()
			defer cancel()
			stream.further(t)

			// The new authority is accepted, and then it signs and serves; the old one is accepted until the end.
			accepted.Project(t, map[string]string{"new.crt": string(next.CrtPEM)})
			r.refresh()
			stream.further(t)
			certificate, key := next.Serving(t, time.Now(), "127.0.0.1")
			r.tlsDir.Project(t, map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})
			r.refresh()
			stream.further(t)
			accepted.Project(t, map[string]string{"old.crt": string(r.ca.CrtPEM), "new.crt": string(next.CrtPEM)})
			r.caDir.Project(t, map[string]string{"tls.crt": string(next.CrtPEM), "tls.key": string(next.KeyPEM)})
			r.refresh()
			stream.further(t)

			// The new token beside the old one, the workers go over, and the old one goes.
			r.tokens.Project(t, map[string]string{"web": trusttest.Token, "web-2.yaml": "pool: web\ntoken: " + secret(2)})
			r.refresh()
			use(secret(2))
			stream.further(t)
			r.tokens.Project(t, map[string]string{"web-2.yaml": "pool: web\ntoken: " + secret(2)})
			r.refresh()
			accepted.Project(t, nil)
			r.refresh()
			stream.further(t)

			cancel()
			workers.Wait()
			if text := r.audit.String(); strings.Count(text, `"result":"issued"`) != strings.Count(text, "\n") {
				t.Error("one of them had to try again")
			}
			if stream.byNew.Load() == 0 || stream.byNew.Load() == stream.total() {
				t.Errorf("%d of %d are by the new authority", stream.byNew.Load(), stream.total())
			}
			if got := r.metric(t, `minos_signer_reloads_total{part="identity",result="failed"}`); got != "0" {
				t.Errorf("%s readings failed", got)
			}
		})
	}
}

// TestATokenThatWasTakenAway is refused at once, and one that came is taken.
func TestATokenThatWasTakenAway(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	r.serves(t)
	r.tokens.Project(t, map[string]string{"web": secret(7)})
	r.refresh()
	connection := r.stranger("").Dial(t)
	if _, err := trusttest.Ask(t.Context(), connection, trusttest.Token, r.request(t, "w1")); !isStatus(err, 16, "invalid token") {
		t.Errorf("the old one: %v", err)
	}
	if _, err := trusttest.Ask(t.Context(), connection, secret(7), r.request(t, "w1")); err != nil {
		t.Errorf("the new one: %v", err)
	}
}

// TestAPoolThatIsGone leaves nothing behind: memory would grow with every pool that ever was.
func TestAPoolThatIsGone(t *testing.T) {
	r := start(t, trusttest.Ed25519, nil)
	r.serves(t)
	const series = `minos_signer_requests_total{pool="web",result="issued"}`
	if got := r.metric(t, series); got != "1" {
		t.Errorf("counted %q", got)
	}
	r.tokens.Project(t, map[string]string{"db": secret(7)})
	r.refresh()
	if got := r.metric(t, series); got != "" {
		t.Errorf("of a pool that is gone %s are counted", got)
	}
}

// TestReadsByItself is without a nudge, at the pace of every day but faster.
func TestReadsByItself(t *testing.T) {
	r := start(t, trusttest.Ed25519, func(c *trust.Config) { c.ReloadEvery = 5 * time.Millisecond })
	r.tokens.Project(t, map[string]string{"web": secret(7)})
	connection := r.stranger("").Dial(t)
	request := r.request(t, "w1")
	eventually(t, "the new token is taken", func() bool {
		_, err := trusttest.Ask(t.Context(), connection, secret(7), request)
		return err == nil
	})
}

// TestFilesThatComeLater is a signer that starts before its Secrets are there: it waits, and does not end.
func TestFilesThatComeLater(t *testing.T) {
	folder := t.TempDir()
	r := start(t, trusttest.Ed25519, func(c *trust.Config) {
		c.Sources.CACert, c.Sources.CAKey = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	})
	if code, text := r.get(t, "/readyz"); code != 503 || !strings.Contains(text, "does not exist") {
		t.Errorf("%d: %s", code, text)
	}
	if code, _ := r.get(t, "/healthz"); code != 200 {
		t.Errorf("healthz: %d", code)
	}
	if _, err := trusttest.Ask(t.Context(), r.stranger("").Dial(t), trusttest.Token, r.request(t, "w1")); err == nil {
		t.Error("it signs with nothing")
	}
	trusttest.Write(t, folder, map[string]string{"tls.crt": string(r.ca.CrtPEM), "tls.key": string(r.ca.KeyPEM)})
	r.refresh()
	r.serves(t)
	if code, text := r.get(t, "/readyz"); code != 200 || text != "ok\n" {
		t.Errorf("%d: %s", code, text)
	}
}
