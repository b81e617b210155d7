// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/x509"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"minos.dev/minos/trust/state"
)

// Metrics are what can be counted. Their number is bounded: pools that are gone take their series with them.
type Metrics struct {
	registry *prometheus.Registry

	requests   *prometheus.CounterVec // pool, result
	refusals   *prometheus.CounterVec // reason
	own        prometheus.Counter
	seconds    prometheus.Histogram
	accepted   prometheus.Counter
	refused    *prometheus.CounterVec // reason
	displaced  prometheus.Counter
	handshakes *prometheus.CounterVec // reason
	reloads    *prometheus.CounterVec // part, result
	failing    *prometheus.GaugeVec   // part
	reloaded   *prometheus.GaugeVec   // part
	unwritten  prometheus.Counter

	pools, gone map[string]bool // touched by Reloaded alone
}

// name is the beginning of all of them.
const name = "minos_signer_"

// NewMetrics makes them, all at zero.
func NewMetrics() *Metrics {
	counter := func(what, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name + what, Help: help})
	}
	counters := func(what, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name + what, Help: help}, labels)
	}
	gauges := func(what, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name + what, Help: help}, labels)
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		requests:   counters("requests_total", "Requests by pool and result.", "pool", "result"),
		refusals:   counters("refusals_total", "Requests that the policy refused, by reason.", "reason"),
		own:        counter("own_names_total", "Requests that asked for a name of the control plane or the signer."),
		accepted:   counter("connections_accepted_total", "Connections that were let in."),
		refused:    counters("connections_refused_total", "Connections that were not let in, by reason.", "reason"),
		displaced:  counter("connections_displaced_total", "Connections that made room for others."),
		handshakes: counters("handshake_failures_total", "Handshakes that failed, by reason.", "reason"),
		reloads:    counters("reloads_total", "Readings of files by part and result.", "part", "result"),
		failing:    gauges("reload_failing", "Whether the files of a part cannot be used, so that older ones serve.", "part"),
		reloaded:   gauges("reload_timestamp_seconds", "When a part was last taken over.", "part"),
		unwritten:  counter("audit_failures_total", "Lines of the audit log that could not be written."),
		pools:      map[string]bool{},
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: name + "request_seconds", Help: "Time from a valid token to an issued certificate.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 12),
		}),
	}
	m.registry.MustRegister(m.requests, m.refusals, m.own, m.seconds, m.accepted, m.refused, m.displaced, m.handshakes, m.reloads,
		m.failing, m.reloaded, m.unwritten, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, part := range []string{state.PartIdentity, state.PartTokens} {
		for _, result := range []string{"loaded", "failed"} {
			m.reloads.WithLabelValues(part, result)
		}
	}
	return m
}

// watch adds what is looked up when somebody asks.
func (m *Metrics) watch(store *state.Store, guard *guard) {
	m.registry.MustRegister(&facts{store: store, guard: guard})
}

// Reloaded counts what became of a part, and forgets the pools that are gone. It is called by one goroutine only.
func (m *Metrics) Reloaded(event state.Event, current *state.State, now time.Time) {
	if event.Err != nil {
		m.reloads.WithLabelValues(event.Part, "failed").Inc()
		m.failing.WithLabelValues(event.Part).Set(1)
		return
	}
	m.reloads.WithLabelValues(event.Part, "loaded").Inc()
	m.failing.WithLabelValues(event.Part).Set(0)
	m.reloaded.WithLabelValues(event.Part).Set(float64(now.Unix()))
	if current.Tokens == nil {
		return
	}
	pools, gone := map[string]bool{}, map[string]bool{}
	for _, token := range current.Tokens.Set.All() {
		pools[token.Pool] = true
	}
	// Those that went at the time before as well: a request on its way may have brought one back.
	for _, was := range []map[string]bool{m.pools, m.gone} {
		for pool := range was {
			if !pools[pool] {
				m.requests.DeletePartialMatch(prometheus.Labels{"pool": pool})
				gone[pool] = m.pools[pool]
			}
		}
	}
	maps.DeleteFunc(gone, func(_ string, justNow bool) bool { return !justNow })
	m.pools, m.gone = pools, gone
}

// facts are gauges that are read off the state and the guard.
type facts struct {
	store *state.Store
	guard *guard
}

var (
	factConnections = prometheus.NewDesc(name+"connections", "Open connections, by what they do.", []string{"state"}, nil)
	factSources     = prometheus.NewDesc(name+"sources", "Sources that are remembered.", nil, nil)
	factTokens      = prometheus.NewDesc(name+"tokens", "Tokens by pool and standing.", []string{"pool", "standing"}, nil)
	factExpiry      = prometheus.NewDesc(name+"expiry_timestamp_seconds", "When something expires: the issuing authority, the first of the accepted ones, the serving certificate, the first token of a pool.", []string{"what", "pool"}, nil)
)

// Describe names them.
func (f *facts) Describe(to chan<- *prometheus.Desc) {
	for _, fact := range []*prometheus.Desc{factConnections, factSources, factTokens, factExpiry} {
		to <- fact
	}
}

// Collect reads them.
func (f *facts) Collect(to chan<- prometheus.Metric) {
	gauge := func(fact *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(fact, prometheus.GaugeValue, value, labels...)
	}
	connections, handshaking := f.guard.gate.Counts()
	gauge(factConnections, float64(handshaking), "handshake")
	gauge(factConnections, float64(connections-handshaking), "established")
	gauge(factSources, float64(f.guard.table.Len()))
	current := f.store.Current()
	if identity := current.Identity; identity != nil {
		gauge(factExpiry, float64(identity.Authority.Certificate.NotAfter.Unix()), "issuing-ca", "")
		gauge(factExpiry, float64(identity.Serving.Leaf.NotAfter.Unix()), "serving", "")
		gauge(factExpiry, float64(firstExpiry(identity.Accepted).Unix()), "accepted-cas", "")
	}
	if current.Tokens != nil {
		f.collectTokens(current.Tokens, gauge)
	}
}

func firstExpiry(certificates []*x509.Certificate) time.Time {
	first := certificates[0].NotAfter
	for _, certificate := range certificates[1:] {
		if certificate.NotAfter.Before(first) {
			first = certificate.NotAfter
		}
	}
	return first
}

// collectTokens counts tokens by pool, and finds the first of each pool to expire that has not yet.
func (f *facts) collectTokens(tokens *state.Tokens, gauge func(*prometheus.Desc, float64, ...string)) {
	type key struct{ pool, standing string }
	counts, first := map[key]int{}, map[string]time.Time{}
	now := f.guard.now()
	for _, token := range tokens.Set.All() {
		counts[key{token.Pool, string(token.Standing(now))}]++
		if known, ok := first[token.Pool]; token.Expires.After(now) && (!ok || token.Expires.Before(known)) {
			first[token.Pool] = token.Expires
		}
	}
	for key, count := range counts {
		gauge(factTokens, float64(count), key.pool, key.standing)
	}
	for pool, expires := range first {
		gauge(factExpiry, float64(expires.Unix()), "token", pool)
	}
}
