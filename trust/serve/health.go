// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"minos.dev/minos/trust/state"
)

// Health answers those who watch the signer.
//
// /healthz says that the process runs, and nothing else: whoever acts on it restarts the container, and no restart mends a
// file. /readyz says whether a worker would get a certificate. It is for a signer in a Pod of its own: beside an API
// server, a probe on it would take the API server out of its Service because a token has a typing error.
type Health struct {
	store    *state.Store
	now      func() time.Time
	stopping atomic.Bool
}

// NewHealth makes it.
func NewHealth(store *state.Store, now func() time.Time) *Health {
	return &Health{store: store, now: now}
}

// Stopping makes it not ready from here on.
func (h *Health) Stopping() { h.stopping.Store(true) }

// Ready says whether a worker would get a certificate, and in words what is the matter. There can be something the
// matter though it would: files that cannot be used, while older ones serve.
func (h *Health) Ready() (bool, string) {
	var words []string
	problems := h.store.Problems()
	for _, part := range slices.Sorted(maps.Keys(problems)) {
		words = append(words, problems[part])
	}
	current, now := h.store.Current(), h.now()
	ready := current.Identity != nil && current.Tokens != nil
	if ready && len(words) > 0 {
		words = append(words, "older files serve meanwhile")
	}
	if current.Identity != nil && now.After(current.Identity.Serving.Leaf.NotAfter) {
		ready, words = false, append(words, "the serving certificate has expired")
	}
	if current.Identity != nil && now.After(current.Identity.Authority.Certificate.NotAfter) {
		ready, words = false, append(words, "the issuing authority has expired")
	}
	if h.stopping.Load() {
		ready, words = false, append(words, "stopping")
	}
	if len(words) == 0 {
		words = []string{"ok"}
	}
	return ready, strings.Join(words, "\n")
}

// Handler serves /healthz, /readyz and /metrics.
func (h *Health) Handler(metrics *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 5 * time.Second}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		ready, words := h.Ready()
		code := http.StatusOK
		if !ready {
			code = http.StatusServiceUnavailable
		}
		say(w, code, words)
	})
	return mux
}

func say(w http.ResponseWriter, code int, words string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, fmt.Sprintln(words)) // whoever asked has gone
}

// NewHTTP is a server for it that nobody can keep busy.
func NewHTTP(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 30 * time.Second, MaxHeaderBytes: 8 << 10,
	}
}
