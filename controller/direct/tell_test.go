// SPDX-License-Identifier: Apache-2.0

package direct_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/direct"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/sim/kubetest"
)

// told empties what a recorder has taken: type and reason of each.
func told(from *events.FakeRecorder) []string {
	var found []string
	for len(from.Events) > 0 {
		words := strings.Fields(<-from.Events)
		found = append(found, words[0]+" "+words[1])
	}
	return found
}

// TestToldOnce looks again and again at a pool of which too many machines fail, and then at one whose machine is kept and replaced.
func TestToldOnce(t *testing.T) {
	wanted, recorder, measures := wantedOf(t, 2), events.NewFakeRecorder(100), metrics.New(nil)
	all := &direct.Machines{Client: kubetest.Client(t), Truth: kubetest.Client(t), Events: recorder, Metrics: measures}
	look := func(why string, want ...string) {
		t.Helper()
		for range 3 {
			if _, err := all.Reconcile(t.Context(), wanted); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, told(recorder)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", why, diff)
		}
	}
	look("machines are made", "Normal Created", "Normal Created")
	for _, one := range list(t, wanted.Pool.Namespace) {
		lose(t, &one, api.ReasonFailed)
	}
	look("too many fail", "Warning Held")
	look("nothing has changed")
	mended := list(t, wanted.Pool.Namespace)[0]
	lose(t, &mended, api.ReasonProgressing)
	look("one is mended, and the other is replaced", "Normal Deleted", "Normal Created", "Normal Released")
	want := map[string]float64{"failed": 1, "replaced": 1}
	if diff := cmp.Diff(want, verdicts(t, measures)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// TestKeptIsCounted counts a machine that failed before and is kept.
func TestKeptIsCounted(t *testing.T) {
	wanted, measures := wantedOf(t, 1), metrics.New(nil)
	wanted.Pool.Spec.Health = &api.Health{Failed: api.FailedKeep}
	all := &direct.Machines{Client: kubetest.Client(t), Truth: kubetest.Client(t), Metrics: measures}
	if _, err := all.Reconcile(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	one := list(t, wanted.Pool.Namespace)[0]
	metav1.SetMetaDataAnnotation(&one.ObjectMeta, machines.AnnotationUnhealthy, "the host broke") // which is when it was counted as failed
	if err := kubetest.Client(t).Update(t.Context(), &one); err != nil {
		t.Fatal(err)
	}
	lose(t, &one, api.ReasonFailed)
	for range 3 {
		if _, err := all.Reconcile(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]float64{"kept": 1}, verdicts(t, measures)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// lose has the instance of a machine be lost, or not.
func lose(t *testing.T, one *api.TalosMachine, reason string) {
	t.Helper()
	one.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionInstanceReady, Status: metav1.ConditionFalse, Reason: reason, Message: "the host broke", LastTransitionTime: metav1.Now(),
	}}
	if err := kubetest.Client(t).Status().Update(t.Context(), one); err != nil {
		t.Fatal(err)
	}
}

// verdicts are how many of each were counted.
func verdicts(t *testing.T, measures *metrics.Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(measures)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if family.GetName() == "minos_machine_verdicts_total" {
				found[series.GetLabel()[1].GetValue()] = series.GetCounter().GetValue()
			}
		}
	}
	return found
}
