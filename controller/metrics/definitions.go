// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// A Kind is what a metric does.
type Kind string

// What metrics do: a counter goes up, a gauge says what is so now, a histogram counts how long something took.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// A Definition is one metric.
type Definition struct {
	// Name is what Prometheus knows it by.
	Name string
	// Kind is what it does.
	Kind Kind
	// Labels are its labels, in order.
	Labels []string
	// Help is what it means, in a sentence.
	Help string

	buckets []float64
}

// Buckets of durations, in seconds: of a step, of a join, and of a roll-out.
var (
	stepBuckets    = []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200}
	joinBuckets    = []float64{15, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600}
	rolloutBuckets = []float64{60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400}
)

// The metrics, each with all that there is to say about it.
var (
	joinSeconds = Definition{"minos_machine_join_duration_seconds", Histogram, []string{"backend"},
		"How long machines took from their creation until they worked for the first time; its count is how many joined.", joinBuckets}
	stepSeconds = Definition{"minos_machine_join_step_duration_seconds", Histogram, []string{"backend", "step"},
		"How long each step of a machine's join took, counted from the step before; measured when the machine has joined.", stepBuckets}
	machinesNow = Definition{"minos_machines", Gauge, []string{"backend", "state"},
		"Machines by state: Ready, Failed, Leaving, or the step of the join that they wait for.", nil}
	verdictsTotal = Definition{"minos_machine_verdicts_total", Counter, []string{"backend", "verdict"},
		"Machines that counted as failed, and what was done about them: failed, replaced, kept.", nil}
	poolsNow = Definition{"minos_pools", Gauge, []string{"backend", "state"},
		"Pools by state: Ready, Rolling, NotReady, Deleting, or Held if nothing is replaced because too many failed or the cluster does not answer.", nil}
	rolloutsTotal = Definition{"minos_rollouts_begun_total", Counter, []string{"backend"},
		"Roll-outs that began: machines of a pool came to be of an older revision than the newest.", nil}
	rolloutSeconds = Definition{"minos_rollout_duration_seconds", Histogram, []string{"backend"},
		"How long roll-outs took until every machine had the newest revision; its count is how many finished.", rolloutBuckets}
	expiryTime = Definition{"minos_certificate_expiry_timestamp_seconds", Gauge, []string{"namespace", "cluster", "certificate"},
		"When what a cluster depends on expires: signer, talosconfig, talos-authority, kubernetes-authority, and of all bootstrap tokens the first.", nil}
	webhookTime = Definition{"minos_webhook_certificate_expiry_timestamp_seconds", Gauge, nil,
		"When the certificate expires with which this operator serves its webhook.", nil}
	reachableNow = Definition{"minos_tenant_reachable", Gauge, []string{"namespace", "cluster"},
		"Whether a cluster's API server answers: 1 or 0. There is no series before it could have.", nil}
	approvedTotal = Definition{"minos_kubelet_certificates_approved_total", Counter, nil,
		"Serving certificates of kubelets that were approved.", nil}
	waitingNow = Definition{"minos_kubelet_certificate_requests_waiting", Gauge, []string{"namespace", "cluster"},
		"Requests for serving certificates that are not approved, because they are not those of a known machine.", nil}
	admissionsTotal = Definition{"minos_admission_verdicts_total", Counter, []string{"kind", "rule", "verdict"},
		"Answers of the webhook: allowed, refused with the rule that did, or failed.", nil}
	leftoversNow = Definition{"minos_leftovers", Gauge, []string{"namespace", "cluster", "kind"},
		"Nodes and instances that no machine claims, of clusters that have any: node, instance.", nil}
	leftoversTotal = Definition{"minos_leftovers_removed_total", Counter, []string{"kind"},
		"Nodes and instances that no machine claimed and that were removed: node, instance.", nil}
)

// Definitions are all metrics, in the order in which they are told about.
func Definitions() []Definition {
	return []Definition{
		joinSeconds, stepSeconds, machinesNow, verdictsTotal, poolsNow, rolloutsTotal, rolloutSeconds, expiryTime, webhookTime, reachableNow,
		approvedTotal, waitingNow, admissionsTotal, leftoversNow, leftoversTotal,
	}
}

// counter makes one.
func (d Definition) counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
}

// histogram makes one.
func (d Definition) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.buckets}, d.Labels)
}

// description is what Prometheus wants to know of a gauge whose values are found when it asks.
func (d Definition) description() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
}
