// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	api "minos.dev/minos/api/v1alpha1"
)

// Metrics take what controllers see and do. Nil takes nothing, so that a controller works without.
type Metrics struct {
	joins, steps, rollouts                           *prometheus.HistogramVec
	verdicts, begun, approved, admissions, leftovers *prometheus.CounterVec
	now                                              func() time.Time

	mutex    sync.Mutex
	pools    map[types.NamespacedName]Pool
	clusters map[types.NamespacedName]*Cluster
	webhook  time.Time
	// since is when machines of Cluster API were first looked at here, and counted which of a pool's were counted.
	since   time.Time
	counted map[types.NamespacedName]map[types.UID]bool
}

var _ prometheus.Collector = (*Metrics)(nil)

// New makes metrics that nobody serves yet. Now is the clock; nil is the real one.
func New(now func() time.Time) *Metrics {
	if now == nil {
		now = time.Now
	}
	made := &Metrics{
		joins: joinSeconds.histogram(), steps: stepSeconds.histogram(), rollouts: rolloutSeconds.histogram(), verdicts: verdictsTotal.counter(),
		begun: rolloutsTotal.counter(), approved: approvedTotal.counter(), admissions: admissionsTotal.counter(), leftovers: leftoversTotal.counter(),
		now: now, pools: map[types.NamespacedName]Pool{}, clusters: map[types.NamespacedName]*Cluster{},
		counted: map[types.NamespacedName]map[types.UID]bool{},
	}
	return made
}

// Shared are those of this program, which are served beside controller-runtime's own. Several operators in one program, as tests
// have them, share them.
var Shared = sync.OnceValues(func() (*Metrics, error) {
	made := New(nil)
	return made, metrics.Registry.Register(made)
})

// Joined counts a machine that has joined.
func (m *Metrics) Joined(backend api.Member, join Join) {
	if m == nil {
		return
	}
	m.joins.WithLabelValues(string(backend)).Observe(join.Whole.Seconds())
	for _, step := range join.Steps {
		m.steps.WithLabelValues(string(backend), step.Name).Observe(step.Took.Seconds())
	}
}

// A Verdict is what was decided about a machine.
type Verdict string

// What can be decided.
const (
	Failed   Verdict = "failed"
	Replaced Verdict = "replaced"
	Kept     Verdict = "kept"
)

// Judged counts a verdict.
func (m *Metrics) Judged(backend api.Member, verdict Verdict) {
	if m != nil {
		m.verdicts.WithLabelValues(string(backend), string(verdict)).Inc()
	}
}

// Rolled counts what happened to a roll-out.
func (m *Metrics) Rolled(backend api.Member, happened Rollout) {
	switch {
	case m == nil:
	case happened.Begun:
		m.begun.WithLabelValues(string(backend)).Inc()
	case happened.Finished:
		m.rollouts.WithLabelValues(string(backend)).Observe(happened.Took.Seconds())
	}
}

// Approved counts a kubelet's certificate.
func (m *Metrics) Approved() {
	if m != nil {
		m.approved.WithLabelValues().Inc()
	}
}

// Admitted counts an answer of the webhook about a kind. The rule is that which refused.
func (m *Metrics) Admitted(kind, rule, verdict string) {
	if m != nil {
		m.admissions.WithLabelValues(kind, rule, verdict).Inc()
	}
}

// A Leftover is a kind of what machines leave behind.
type Leftover string

// What they leave behind.
const (
	Node     Leftover = "node"
	Instance Leftover = "instance"
)

// Removed counts something that machines left behind.
func (m *Metrics) Removed(what Leftover) {
	if m != nil {
		m.leftovers.WithLabelValues(string(what)).Inc()
	}
}

// Serves notes until when the webhook's certificate is good.
func (m *Metrics) Serves(until time.Time) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.webhook = until
}
