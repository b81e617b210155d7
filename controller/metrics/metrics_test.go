// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
)

// page is what is served, as text.
func page(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(m); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", answer.Status, text, err)
	}
	return string(text)
}

// scrape is all series with their values, but for buckets.
func scrape(t *testing.T, m *metrics.Metrics, names ...string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(page(t, m)) {
		name, _, _ := strings.Cut(line, "{")
		if strings.HasPrefix(line, "#") || strings.Contains(line, "_bucket{") || len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		found = append(found, strings.TrimSpace(line))
	}
	slices.Sort(found)
	return found
}

var shop, other = types.NamespacedName{Namespace: "tenant-shop", Name: "shop"}, types.NamespacedName{Namespace: "tenant-other", Name: "shop"}

// full is metrics with something to say of everything.
func full() *metrics.Metrics {
	m := metrics.New(nil)
	m.Joined(api.MemberSim, metrics.Join{Whole: 90 * time.Second, Steps: []metrics.Step{{Name: api.ConditionInstanceReady, Took: time.Minute}, {Name: api.ConditionNetworkReady, Took: 30 * time.Second}}})
	m.Judged(api.MemberSim, metrics.Failed)
	m.Judged(api.MemberSim, metrics.Replaced)
	m.Judged(api.MemberMetal, metrics.Kept)
	m.Rolled(api.MemberSim, metrics.Rollout{Begun: true})
	m.Rolled(api.MemberSim, metrics.Rollout{Finished: true, Took: 10 * time.Minute})
	m.Approved()
	m.Admitted("NodePool", "cardinality", "refused")
	m.Admitted("NodePool", "", "allowed")
	m.Removed(metrics.Node)
	m.Serves(noon)
	m.Pool(types.NamespacedName{Namespace: "a", Name: "workers"}, metrics.Pool{Backend: api.MemberSim, State: metrics.StateReady, Machines: map[string]int{metrics.StateReady: 3}})
	m.Pool(types.NamespacedName{Namespace: "b", Name: "workers"}, metrics.Pool{Backend: api.MemberSim, State: metrics.StateHeld, Machines: map[string]int{metrics.StateReady: 2, metrics.StateFailed: 4}})
	yes, no, waiting, none := true, false, 2, 0
	m.Cluster(shop, metrics.Cluster{Expiry: map[string]time.Time{metrics.ExpirySigner: noon, metrics.ExpiryBootstrapToken: {}}, Reachable: &yes, Waiting: &waiting})
	m.Cluster(other, metrics.Cluster{Expiry: map[string]time.Time{metrics.ExpirySigner: noon.Add(time.Hour)}, Reachable: &no, Waiting: &none})
	m.Left(shop, metrics.Instance, 1)
	m.Left(shop, metrics.Node, 0)
	return m
}

// TestScrape serves metrics as the operator does and reads what a Prometheus would: all of it but the buckets.
func TestScrape(t *testing.T) {
	want := []string{
		`minos_admission_verdicts_total{kind="NodePool",rule="",verdict="allowed"} 1`,
		`minos_admission_verdicts_total{kind="NodePool",rule="cardinality",verdict="refused"} 1`,
		`minos_certificate_expiry_timestamp_seconds{certificate="signer",cluster="shop",namespace="tenant-other"} 1.7947476e+09`,
		`minos_certificate_expiry_timestamp_seconds{certificate="signer",cluster="shop",namespace="tenant-shop"} 1.794744e+09`,
		`minos_kubelet_certificate_requests_waiting{cluster="shop",namespace="tenant-other"} 0`,
		`minos_kubelet_certificate_requests_waiting{cluster="shop",namespace="tenant-shop"} 2`,
		`minos_kubelet_certificates_approved_total 1`,
		`minos_leftovers_removed_total{kind="node"} 1`,
		`minos_leftovers{cluster="shop",kind="instance",namespace="tenant-shop"} 1`,
		`minos_machine_join_duration_seconds_count{backend="sim"} 1`,
		`minos_machine_join_duration_seconds_sum{backend="sim"} 90`,
		`minos_machine_join_step_duration_seconds_count{backend="sim",step="InstanceReady"} 1`,
		`minos_machine_join_step_duration_seconds_count{backend="sim",step="NetworkReady"} 1`,
		`minos_machine_join_step_duration_seconds_sum{backend="sim",step="InstanceReady"} 60`,
		`minos_machine_join_step_duration_seconds_sum{backend="sim",step="NetworkReady"} 30`,
		`minos_machine_verdicts_total{backend="metal",verdict="kept"} 1`,
		`minos_machine_verdicts_total{backend="sim",verdict="failed"} 1`,
		`minos_machine_verdicts_total{backend="sim",verdict="replaced"} 1`,
		`minos_machines{backend="sim",state="Failed"} 4`,
		`minos_machines{backend="sim",state="Ready"} 5`,
		`minos_pools{backend="sim",state="Held"} 1`,
		`minos_pools{backend="sim",state="Ready"} 1`,
		`minos_rollout_duration_seconds_count{backend="sim"} 1`,
		`minos_rollout_duration_seconds_sum{backend="sim"} 600`,
		`minos_rollouts_begun_total{backend="sim"} 1`,
		`minos_tenant_reachable{cluster="shop",namespace="tenant-other"} 0`,
		`minos_tenant_reachable{cluster="shop",namespace="tenant-shop"} 1`,
		`minos_webhook_certificate_expiry_timestamp_seconds 1.794744e+09`,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, scrape(t, full())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryDefinitionIsServed holds what is defined to what is served: names, kinds, labels and words.
func TestEveryDefinitionIsServed(t *testing.T) {
	served := map[string]string{}
	for line := range strings.Lines(page(t, full())) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		switch {
		case words[0] == "#" && words[1] == "HELP":
			served[words[2]] = words[3]
		case words[0] == "#" && words[1] == "TYPE":
			served[words[2]] += " " + words[3]
		}
	}
	defined := map[string]string{}
	for _, each := range metrics.Definitions() {
		defined[each.Name] = fmt.Sprintf("%s %s", each.Help, each.Kind)
		if !strings.HasSuffix(each.Help, ".") {
			t.Errorf("%s: %q is not a sentence", each.Name, each.Help)
		}
	}
	if diff := cmp.Diff(defined, served); diff != "" {
		t.Errorf("(-defined +served):\n%s", diff)
	}
}

// TestNamesAreAsPrometheusWantsThem holds names to its own linter.
func TestNamesAreAsPrometheusWantsThem(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(page(t, full()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestWhatIsGoneIsForgotten removes a cluster and pools: their series go, those of others stay, and who comes late changes nothing.
func TestWhatIsGoneIsForgotten(t *testing.T) {
	m := full()
	m.ForgetCluster(shop)
	m.ForgetPool(types.NamespacedName{Namespace: "b", Name: "workers"})
	m.Left(shop, metrics.Instance, 7)
	want := []string{
		`minos_certificate_expiry_timestamp_seconds{certificate="signer",cluster="shop",namespace="tenant-other"} 1.7947476e+09`,
		`minos_machines{backend="sim",state="Ready"} 3`,
		`minos_tenant_reachable{cluster="shop",namespace="tenant-other"} 0`,
	}
	got := scrape(t, m, "minos_certificate_expiry_timestamp_seconds", "minos_machines", "minos_tenant_reachable", "minos_leftovers")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatIsNotKnownStays looks at a cluster and a pool of which less can be seen than before.
func TestWhatIsNotKnownStays(t *testing.T) {
	m := full()
	m.Cluster(shop, metrics.Cluster{Expiry: map[string]time.Time{metrics.ExpiryTalosconfig: noon}})
	m.Pool(types.NamespacedName{Namespace: "a", Name: "workers"}, metrics.Pool{Backend: api.MemberSim, State: metrics.StateNotReady})
	for name, want := range map[string]int{"minos_certificate_expiry_timestamp_seconds": 3, "minos_tenant_reachable": 2, "minos_machines": 2, "minos_leftovers": 1} {
		if got := scrape(t, m, name); len(got) != want {
			t.Errorf("want %d series: %v", want, got)
		}
	}
}

// TestThousandsOfPools is that they are no thousands of series.
func TestThousandsOfPools(t *testing.T) {
	m := metrics.New(nil)
	for at := range 5000 {
		m.Pool(types.NamespacedName{Namespace: fmt.Sprint(at), Name: "workers"}, metrics.Pool{Backend: api.MemberKubeVirt, State: metrics.StateReady, Machines: map[string]int{metrics.StateReady: 3}})
	}
	want := []string{`minos_machines{backend="kubevirt",state="Ready"} 15000`, `minos_pools{backend="kubevirt",state="Ready"} 5000`}
	if diff := cmp.Diff(want, scrape(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestShared has several operators of one program share what controller-runtime serves.
func TestShared(t *testing.T) {
	first, err := metrics.Shared()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := metrics.Shared(); err != nil || second != first {
		t.Errorf("there are two: %v", err)
	}
	first.Serves(noon)
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "minos_webhook_certificate_expiry_timestamp_seconds" {
			return
		}
	}
	t.Error("they are not served")
}
