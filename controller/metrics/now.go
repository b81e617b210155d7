// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
)

// A Pool is what is so of a pool now.
type Pool struct {
	// Backend is the kind of its machines.
	Backend api.Member
	// State is one of those of [StateOf].
	State string
	// Machines are how many are in which state. Nil leaves what was known: they could not be looked at.
	Machines map[string]int
}

// A Cluster is what is so of a cluster now.
type Cluster struct {
	// Expiry is when certificates and tokens expire, by their names. What is not in it stays as it was known; zero is known to be none.
	Expiry map[string]time.Time
	// Reachable says whether its API server answers; nil leaves what was known.
	Reachable *bool
	// Waiting is how many requests for serving certificates are not approved; nil leaves what was known.
	Waiting *int

	leftovers map[Leftover]int
}

// What expires.
const (
	ExpirySigner              = "signer"
	ExpiryTalosconfig         = "talosconfig"
	ExpiryTalosAuthority      = "talos-authority"
	ExpiryKubernetesAuthority = "kubernetes-authority"
	ExpiryBootstrapToken      = "bootstrap-token"
)

// Pool notes what is so of a pool.
func (m *Metrics) Pool(key types.NamespacedName, seen Pool) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if seen.Machines == nil {
		seen.Machines = m.pools[key].Machines
	}
	m.pools[key] = seen
}

// ForgetPool drops a pool that is gone.
func (m *Metrics) ForgetPool(key types.NamespacedName) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.pools, key)
	delete(m.counted, key)
}

// Cluster notes what is so of a cluster.
func (m *Metrics) Cluster(key types.NamespacedName, seen Cluster) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known := m.clusters[key]
	if known == nil {
		known = &Cluster{Expiry: map[string]time.Time{}, leftovers: map[Leftover]int{}}
		m.clusters[key] = known
	}
	maps.Copy(known.Expiry, seen.Expiry)
	if seen.Reachable != nil {
		known.Reachable = seen.Reachable
	}
	if seen.Waiting != nil {
		known.Waiting = seen.Waiting
	}
}

// Left notes how much of a kind machines of a cluster have left behind. A cluster that nobody told of is gone, or is not ours.
func (m *Metrics) Left(key types.NamespacedName, what Leftover, count int) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known := m.clusters[key]; known != nil {
		known.leftovers[what] = count
	}
}

// ForgetCluster drops a cluster that is gone, with all of its series.
func (m *Metrics) ForgetCluster(key types.NamespacedName) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.clusters, key)
}

// Describe tells Prometheus what there is.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, each := range m.vectors() {
		each.Describe(out)
	}
	for _, each := range Definitions() {
		if each.Kind == Gauge {
			out <- each.description()
		}
	}
}

// Collect tells Prometheus what is so.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, each := range m.vectors() {
		each.Collect(out)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.collectPools(out)
	for key, cluster := range m.clusters {
		cluster.collect(key, out)
	}
	if !m.webhook.IsZero() {
		webhookTime.say(out, float64(m.webhook.Unix()))
	}
}

// vectors are those that count by themselves.
func (m *Metrics) vectors() []prometheus.Collector {
	return []prometheus.Collector{m.joins, m.steps, m.rollouts, m.verdicts, m.begun, m.approved, m.admissions, m.leftovers}
}

// collectPools adds pools and their machines up.
func (m *Metrics) collectPools(out chan<- prometheus.Metric) {
	type series struct{ backend, state string }
	pools, machines := map[series]int{}, map[series]int{}
	for _, pool := range m.pools {
		pools[series{string(pool.Backend), pool.State}]++
		for state, count := range pool.Machines {
			machines[series{string(pool.Backend), state}] += count
		}
	}
	for of, count := range pools {
		poolsNow.say(out, float64(count), of.backend, of.state)
	}
	for of, count := range machines {
		machinesNow.say(out, float64(count), of.backend, of.state)
	}
}

// collect says what is so of one cluster.
func (c *Cluster) collect(key types.NamespacedName, out chan<- prometheus.Metric) {
	for name, until := range c.Expiry {
		if !until.IsZero() {
			expiryTime.say(out, float64(until.Unix()), key.Namespace, key.Name, name)
		}
	}
	if c.Reachable != nil {
		value := 0.0
		if *c.Reachable {
			value = 1
		}
		reachableNow.say(out, value, key.Namespace, key.Name)
	}
	if c.Waiting != nil {
		waitingNow.say(out, float64(*c.Waiting), key.Namespace, key.Name)
	}
	for what, count := range c.leftovers {
		if count > 0 {
			leftoversNow.say(out, float64(count), key.Namespace, key.Name, string(what))
		}
	}
}

// say says the value of a gauge.
func (d Definition) say(out chan<- prometheus.Metric, value float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d.description(), prometheus.GaugeValue, value, labels...)
}
