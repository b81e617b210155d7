// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	hook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"minos.dev/minos/controller/admission"
	"minos.dev/minos/controller/metrics"
)

// measured takes what the guard answers.
var measured = metrics.New(nil)

// series are the values of a metric, by the values of its labels.
func series(t *testing.T, of *metrics.Metrics, name string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			var labels []string
			for _, pair := range one.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			if family.GetName() == name {
				found[strings.Join(labels, " ")] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
			}
		}
	}
	return found
}

// wasCounted wants every rule that refused something to be counted, and when the webhook's certificate expires.
func wasCounted(t *testing.T) {
	answers := series(t, measured, "minos_admission_verdicts_total")
	for _, want := range []string{
		"TalosCluster pools-left refused", "TalosCluster configuration refused", "Location pools-left refused", "NodePool place refused", "NodePool role refused",
		"NodePool cardinality refused", "NodePool configuration refused", "NodePool  allowed",
	} {
		if answers[want] == 0 {
			t.Errorf("%s was not counted: %v", want, answers)
		}
	}
	until := time.Unix(int64(series(t, measured, "minos_webhook_certificate_expiry_timestamp_seconds")[""]), 0)
	if left := time.Until(until); left < 80*24*time.Hour || left > 91*24*time.Hour {
		t.Errorf("the webhook's certificate is said to expire on %s", until)
	}
}

// TestKindsOfOthers asks about kinds that nobody knows: they are counted as one.
func TestKindsOfOthers(t *testing.T) {
	of := metrics.New(nil)
	guard := &admission.Guard{Metrics: of}
	for _, kind := range []string{"A", "B", "C"} {
		guard.Handle(t.Context(), hook.Request{AdmissionRequest: admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind{Kind: kind}}})
	}
	if diff := cmp.Diff(map[string]float64{"other  allowed": 3}, series(t, of, "minos_admission_verdicts_total")); diff != "" {
		t.Error(diff)
	}
}
