// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"minos.dev/minos/trust/limit"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/serve"
	"minos.dev/minos/trust/state"
)

// Config is all that a signer can be told.
type Config struct {
	// Listen is the address for workers, HTTP the one for probes and metrics; without it there are none.
	Listen, HTTP string
	// Sources are the files.
	Sources state.Sources
	// ReloadEvery is how often they are looked at.
	ReloadEvery time.Duration
	// OwnNames is what happens to a request for a name of the control plane or the signer.
	OwnNames policy.Mode
	// Validity is the life of a certificate.
	Validity time.Duration
	// Room is how many connections there may be.
	Room limit.Room
	// SourceRate is how many connections, and how many requests, a source may make a second; for a moment five times as
	// many. FailedTokens is how many a minute may show a wrong token. Zero is no limit.
	SourceRate, FailedTokens float64
	// HandshakeTimeout, RequestTimeout and StopTimeout are the time for a handshake, for the message of a request, and for
	// requests to end when the signer stops.
	HandshakeTimeout, RequestTimeout, StopTimeout time.Duration
	// MinTLS is the lowest version of TLS.
	MinTLS uint16
}

// Default is a signer for a few thousand workers, beside an API server.
func Default() Config {
	return Config{
		Listen: ":50001", HTTP: "127.0.0.1:50080",
		Sources: state.Sources{
			CACert: "/etc/minos-signer/ca/tls.crt", CAKey: "/etc/minos-signer/ca/tls.key",
			TLSCert: "/etc/minos-signer/tls/tls.crt", TLSKey: "/etc/minos-signer/tls/tls.key",
			Tokens: "/etc/minos-signer/tokens",
		},
		ReloadEvery: 2 * time.Second, OwnNames: policy.Refuse, Validity: 24 * time.Hour,
		Room:       limit.Room{Connections: 512, PerSource: 128, Handshakes: 128},
		SourceRate: 100, FailedTokens: 60,
		HandshakeTimeout: 5 * time.Second, RequestTimeout: 5 * time.Second, StopTimeout: 5 * time.Second,
		MinTLS: tls.VersionTLS12,
	}
}

// rates are what a source may do.
func (c Config) rates() limit.Rates {
	const moment = 5 // seconds' worth at once
	return limit.Rates{
		limit.Connections: {PerSecond: c.SourceRate, Burst: moment * c.SourceRate},
		limit.Requests:    {PerSecond: c.SourceRate, Burst: moment * c.SourceRate},
		limit.Failures:    {PerSecond: c.FailedTokens / 60, Burst: c.FailedTokens},
	}
}

// A World is what a signer meets.
type World struct {
	// Audit takes a line for each request, Log what else there is to say.
	Audit io.Writer
	Log   *slog.Logger
	// Reload makes it read its files now.
	Reload <-chan struct{}
	// Now is the clock.
	Now func() time.Time
}

// A Signer listens.
type Signer struct {
	config  Config
	world   World
	store   *state.Store
	metrics *serve.Metrics
	health  *serve.Health
	workers net.Listener
	probes  net.Listener
}

// Listen opens the ports, so that whoever made the mistake sees it at once, and reads the files. Files that cannot be used
// are no reason to end: beside an API server, a signer that keeps ending takes the API server out of its Service.
func Listen(ctx context.Context, config Config, world World) (*Signer, error) {
	s := &Signer{config: config, world: world, store: state.NewStore(config.Sources, world.Now), metrics: serve.NewMetrics()}
	s.health = serve.NewHealth(s.store, world.Now)
	var open net.ListenConfig
	var err error
	if s.workers, err = open.Listen(ctx, "tcp", config.Listen); err != nil {
		return nil, fmt.Errorf("listen: %w: free the port, or set --listen", err)
	}
	if config.HTTP != "" {
		if s.probes, err = open.Listen(ctx, "tcp", config.HTTP); err != nil {
			_ = s.workers.Close()
			return nil, fmt.Errorf("http: %w: free the port, or set --http", err)
		}
	}
	for _, event := range s.store.Refresh(ctx, true) {
		s.tell(event)
	}
	return s, nil
}

// Address is where workers reach it, HTTPAddress where probes do.
func (s *Signer) Address() string { return s.workers.Addr().String() }

// HTTPAddress is where probes reach it, or nothing.
func (s *Signer) HTTPAddress() string {
	if s.probes == nil {
		return ""
	}
	return s.probes.Addr().String()
}

// tell reports what became of a part.
func (s *Signer) tell(event state.Event) {
	s.metrics.Reloaded(event, s.store.Current(), s.world.Now())
	if event.Err != nil {
		s.world.Log.Error("files cannot be used; older ones serve, if there were any", "part", event.Part, "error", event.Err.Error())
		return
	}
	s.world.Log.Info("files taken over", append([]any{"part", event.Part}, describe(event.Part, s.store.Current())...)...)
	for _, warning := range event.Warnings {
		s.world.Log.Warn(warning, "part", event.Part)
	}
}

// describe says what a part is, without a secret.
func describe(part string, current *state.State) []any {
	if part == state.PartTokens {
		return []any{"tokens", len(current.Tokens.Set.All())}
	}
	identity := current.Identity
	return []any{
		"issuer", identity.Authority.Certificate.Subject.String(), "issuerExpires", identity.Authority.Certificate.NotAfter,
		"accepted", len(identity.Accepted), "servingExpires", identity.Serving.Leaf.NotAfter,
	}
}

// Run serves until the context ends, and then stops within the time for it.
func (s *Signer) Run(ctx context.Context) error {
	server := serve.NewServer(serve.Options{
		Store: s.store, Metrics: s.metrics, Audit: s.world.Audit, Now: s.world.Now,
		Mode: s.config.OwnNames, Validity: s.config.Validity, Room: s.config.Room, Rates: s.config.rates(),
		Handshake: s.config.HandshakeTimeout, Patience: s.config.RequestTimeout, MinTLS: s.config.MinTLS,
	})
	probes := serve.NewHTTP(s.health.Handler(s.metrics))
	ctx, end := context.WithCancel(ctx)
	defer end()
	tasks := []func() error{
		func() error { return server.Serve(s.workers) },
		func() error { s.store.Watch(ctx, s.config.ReloadEvery, s.world.Reload, s.tell); return nil },
	}
	if s.probes != nil {
		tasks = append(tasks, func() error { return s.serveProbes(probes) })
	}
	ended := make(chan error, len(tasks))
	for _, task := range tasks {
		go func() { ended <- task() }()
	}
	s.welcome()
	var first error
	left := len(tasks)
	select {
	case <-ctx.Done():
	case first = <-ended: // one of the servers broke
		left--
		end()
	}
	s.stop(server, probes)
	for range left {
		first = errors.Join(first, <-ended)
	}
	s.world.Log.Info("stopped")
	return first
}

// welcome says where it listens, and whether that is of use to anybody yet.
func (s *Signer) welcome() {
	where := []any{"listen", s.Address(), "http", s.HTTPAddress()}
	if ready, _ := s.health.Ready(); ready {
		s.world.Log.Info("ready for workers", where...)
	} else {
		s.world.Log.Warn("waiting: no worker gets a certificate until the files can be used", where...)
	}
}

func (s *Signer) serveProbes(probes *http.Server) error {
	if err := probes.Serve(netutil.LimitListener(s.probes, 32)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

// stop ends both servers. Probes are answered until workers are gone, so that whoever watches sees why.
func (s *Signer) stop(server *serve.Server, probes *http.Server) {
	s.health.Stopping()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.StopTimeout)
	defer cancel()
	server.Stop(ctx)
	if err := probes.Shutdown(ctx); err != nil {
		_ = probes.Close()
	}
}
