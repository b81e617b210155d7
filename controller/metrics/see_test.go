// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// noon is when things begin.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// after is a time after noon.
func after(seconds int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

// is is a condition, since some seconds after noon.
func is(kind string, status metav1.ConditionStatus, seconds int) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Ready", LastTransitionTime: after(seconds)}
}

// said is a join in a line.
func said(join metrics.Join) string {
	var words []string
	for _, step := range join.Steps {
		words = append(words, fmt.Sprintf("%s %s", step.Name, step.Took))
	}
	return fmt.Sprintf("%s: %s", join.Whole, strings.Join(words, ", "))
}

func TestJoinOf(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	tests := map[string]struct {
		conditions []metav1.Condition
		want       string
	}{
		"step after step": {
			[]metav1.Condition{is(api.ConditionInstanceReady, yes, 20), is(api.ConditionConfigured, yes, 50), is(api.ConditionNodeRegistered, yes, 60), is(api.ConditionNetworkReady, yes, 75)},
			"1m15s: InstanceReady 20s, Configured 30s, NodeRegistered 10s, NetworkReady 15s",
		},
		"the order of the status does not matter": {
			[]metav1.Condition{is(api.ConditionNetworkReady, yes, 75), is(api.ConditionInstanceReady, yes, 20)},
			"1m15s: InstanceReady 20s, NetworkReady 55s",
		},
		"a step that was seen before the one ahead of it took no time": {
			[]metav1.Condition{is(api.ConditionInstanceReady, yes, 20), is(api.ConditionConfigured, yes, 60), is(api.ConditionCertificateIssued, yes, 40), is(api.ConditionNetworkReady, yes, 70)},
			"1m10s: InstanceReady 20s, Configured 40s, CertificateIssued 0s, NetworkReady 10s",
		},
		"what could not be seen is left out": {
			[]metav1.Condition{is(api.ConditionInstanceReady, yes, 20), is(api.ConditionCertificateIssued, unknown, 30), is(api.ConditionServicesRunning, no, 90), is(api.ConditionNetworkReady, yes, 70)},
			"1m10s: InstanceReady 20s, NetworkReady 50s",
		},
		"a clock that is behind": {[]metav1.Condition{is(api.ConditionInstanceReady, yes, -5)}, "0s: InstanceReady 0s"},
		"nothing was seen":       {nil, "0s: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, said(metrics.JoinOf(noon, test.conditions))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// machine is a Machine of Cluster API that was made at noon, with a status in YAML's words.
func machine(id string, status map[string]any) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": id, "uid": id, "creationTimestamp": noon.Format(time.RFC3339)}, "status": status,
	}}
}

// running is the status of one whose Node was registered and ready at some seconds after noon.
func running(registered, ready int, isReady string) map[string]any {
	condition := func(kind, status string, at int) any {
		return map[string]any{"type": kind, "status": status, "lastTransitionTime": after(at).Format(time.RFC3339)}
	}
	return map[string]any{
		"phase": "Running", "lastUpdated": after(registered).Format(time.RFC3339), "nodeRef": map[string]any{"name": "node"},
		"conditions": []any{condition("InfrastructureReady", "True", 30), condition("NodeReady", isReady, ready)},
	}
}

func TestVirtualJoin(t *testing.T) {
	tests := map[string]struct {
		status map[string]any
		want   string
	}{
		"it has joined":             {running(90, 100, "True"), "1m40s: InstanceReady 30s, NodeRegistered 1m0s, NetworkReady 10s"},
		"its Node is not ready":     {running(90, 100, "False"), ""},
		"it has no Node":            {map[string]any{"phase": "Provisioned", "lastUpdated": after(30).Format(time.RFC3339)}, ""},
		"it is on its way out":      {map[string]any{"phase": "Deleting", "nodeRef": map[string]any{"name": "node"}, "conditions": running(90, 100, "True")["conditions"]}, ""},
		"it is no machine of today": {map[string]any{"conditions": "none"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			one := machine("a", test.status)
			join, registered := metrics.VirtualJoin(&one)
			if test.want == "" {
				if !registered.IsZero() {
					t.Errorf("it is said to have joined: %s", said(join))
				}
				return
			}
			if diff := cmp.Diff(test.want, said(join)); diff != "" || !registered.Equal(after(90).Time) {
				t.Errorf("%s (its Node was registered at %s)", diff, registered)
			}
		})
	}
}

// TestVirtualIsCountedOnce looks at machines of Cluster API again and again, as an operator that began to work 60 seconds after noon.
func TestVirtualIsCountedOnce(t *testing.T) {
	m, key := metrics.New(func() time.Time { return after(60).Time }), types.NamespacedName{Namespace: "a", Name: "workers"}
	earlier, later, flapping := machine("earlier", running(50, 70, "True")), machine("later", running(90, 100, "True")), machine("later", running(90, 400, "False"))
	back := machine("later", running(90, 500, "True"))
	for _, look := range []struct {
		why      string
		machines []unstructured.Unstructured
		want     int
	}{
		{"one that was a Node before the operator began was counted by another", []unstructured.Unstructured{earlier}, 0},
		{"one that became a Node since", []unstructured.Unstructured{earlier, later}, 1},
		{"another look", []unstructured.Unstructured{earlier, later}, 1},
		{"its Node is not ready for a while", []unstructured.Unstructured{earlier, flapping}, 1},
		{"and is again, which is no join", []unstructured.Unstructured{earlier, back}, 1},
		{"another one", []unstructured.Unstructured{back, machine("third", running(600, 700, "True"))}, 2},
	} {
		m.Virtual(key, look.machines)
		if got := joined(t, m); got != look.want {
			t.Errorf("%s: %d joins were counted, want %d", look.why, got, look.want)
		}
	}
}

// joined is how many joins were counted, of whatever machines.
func joined(t *testing.T, m *metrics.Metrics) (count int) {
	t.Helper()
	for _, line := range scrape(t, m) {
		if name, value, _ := strings.Cut(line, " "); strings.HasPrefix(name, "minos_machine_join_duration_seconds_count{") {
			number, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			count += number
		}
	}
	return count
}

func TestRolloutOf(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	up := func(status metav1.ConditionStatus, at int) []metav1.Condition {
		return []metav1.Condition{is(api.ConditionReady, yes, 0), is(api.ConditionUpToDate, status, at)}
	}
	tests := map[string]struct {
		before, after []metav1.Condition
		want          metrics.Rollout
	}{
		"it begins":                            {up(yes, 0), up(no, 10), metrics.Rollout{Begun: true}},
		"it goes on":                           {up(no, 10), up(no, 10), metrics.Rollout{}},
		"it is finished":                       {up(no, 10), up(yes, 310), metrics.Rollout{Finished: true, Took: 5 * time.Minute}},
		"nothing is rolled":                    {up(yes, 0), up(yes, 0), metrics.Rollout{}},
		"a pool that is new":                   {nil, up(no, 10), metrics.Rollout{}},
		"a pool that nothing was found out of": {up(no, 10), nil, metrics.Rollout{}},
		"clocks that differ":                   {up(no, 10), up(yes, 5), metrics.Rollout{Finished: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, metrics.RolloutOf(test.before, test.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPoolOf counts the machines of pools by state.
func TestPoolOf(t *testing.T) {
	now := metav1.Now()
	ready := []metav1.Condition{is(api.ConditionReady, metav1.ConditionTrue, 0), is(api.ConditionUpToDate, metav1.ConditionTrue, 0)}
	rolling := []metav1.Condition{ready[0], is(api.ConditionUpToDate, metav1.ConditionFalse, 0)}
	direct := &pool.Seen{Machines: []pool.Machine{
		{Name: "a", Ready: true}, {Name: "b", Ready: true}, {Name: "c", Waits: api.ConditionCertificateIssued}, {Name: "d", Failed: true, Waits: api.ConditionInstanceReady},
		{Name: "e", Waits: "its end", Failed: true},
	}}
	held := &pool.Seen{Machines: append([]pool.Machine{{Failed: true, Waits: "somebody to look", Why: "too many failed"}}, direct.Machines...)}
	counts := map[string]int{"Ready": 2, "CertificateIssued": 1, "Failed": 1, "Leaving": 1}
	tests := map[string]struct {
		conditions []metav1.Condition
		seen       *pool.Seen
		deleted    *metav1.Time
		want       metrics.Pool
	}{
		"ready":                    {ready, direct, nil, metrics.Pool{State: "Ready", Machines: counts}},
		"rolling":                  {rolling, direct, nil, metrics.Pool{State: "Rolling", Machines: counts}},
		"not ready":                {nil, direct, nil, metrics.Pool{State: "NotReady", Machines: counts}},
		"held":                     {ready, held, nil, metrics.Pool{State: "Held", Machines: counts}},
		"deleting":                 {ready, held, &now, metrics.Pool{State: "Deleting", Machines: counts}},
		"machines not looked at":   {ready, nil, nil, metrics.Pool{State: "Ready"}},
		"machines known not to be": {ready, &pool.Seen{}, nil, metrics.Pool{State: "Ready", Machines: map[string]int{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := &api.NodePool{Spec: api.NodePoolSpec{Machine: api.Machine{Sim: &api.SimMachine{}}}, Status: api.NodePoolStatus{Conditions: test.conditions}}
			of.DeletionTimestamp = test.deleted
			test.want.Backend = api.MemberSim
			if diff := cmp.Diff(test.want, metrics.PoolOf(of, test.seen)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStatesOfVirtualMachines holds the states to the words that plan/virtual has for what machines wait for.
func TestStatesOfVirtualMachines(t *testing.T) {
	condition := func(kind, status string) any { return map[string]any{"type": kind, "status": status} }
	conditions := func(all ...any) map[string]any { return map[string]any{"conditions": all} }
	leaving := machine("leaving", nil)
	leaving.SetDeletionTimestamp(&metav1.Time{Time: noon})
	config, infrastructure := condition("BootstrapConfigReady", "True"), condition("InfrastructureReady", "True")
	live := virtual.Live{Machines: []unstructured.Unstructured{
		leaving, machine("failed", conditions(condition("HealthCheckSucceeded", "False"))), machine("configuration", conditions()),
		machine("instance", conditions(config)), machine("node", conditions(config, infrastructure)),
		machine("ready", conditions(config, infrastructure, condition("NodeReady", "True"))),
	}}
	got := map[string]string{}
	for _, one := range live.Seen().Machines {
		got[one.Name] = metrics.StateOf(one)
	}
	want := map[string]string{
		"leaving": "Leaving", "failed": "Failed", "configuration": "Configured", "instance": "InstanceReady", "node": "NodeRegistered", "ready": "Ready",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWithoutMetrics has controllers work without: nothing of it panics.
func TestWithoutMetrics(t *testing.T) {
	var m *metrics.Metrics
	key := types.NamespacedName{Name: "a"}
	m.Joined(api.MemberSim, metrics.Join{})
	m.Judged(api.MemberSim, metrics.Failed)
	m.Rolled(api.MemberSim, metrics.Rollout{Begun: true})
	m.Approved()
	m.Admitted("NodePool", "", "allowed")
	m.Removed(metrics.Node)
	m.Serves(noon)
	m.Pool(key, metrics.Pool{})
	m.ForgetPool(key)
	m.Cluster(key, metrics.Cluster{})
	m.Left(key, metrics.Node, 1)
	m.ForgetCluster(key)
	m.Virtual(key, nil)
	if lines := scrape(t, metrics.New(nil)); len(lines) > 0 {
		t.Errorf("nothing has series: %v", lines)
	}
}
