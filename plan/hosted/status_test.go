// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// ready are all conditions of a cluster that is.
func ready() []metav1.Condition {
	var all []metav1.Condition
	for _, part := range api.TalosClusterReady {
		all = append(all, hosted.Yes(part, "fine"))
	}
	return all
}

func TestStatus(t *testing.T) {
	cluster := shop()
	two, one := int32(2), int32(1)
	web, db := pool("web"), pool("db")
	web.Status.Replicas, web.Status.ReadyReplicas, db.Status.Replicas = &two, &one, &one
	report := hosted.Report{
		Conditions: ready(), Endpoint: &api.Endpoint{Host: "10.0.0.5", Port: 6443}, KubernetesVersion: "v1.35.2+k3s1",
		Pools: []api.NodePool{web, db}, PoolsSeen: true,
	}
	cluster.Status = hosted.Status(cluster, report, noon)
	got := cluster.Status
	if !meta.IsStatusConditionTrue(got.Conditions, api.ConditionReady) || got.ObservedGeneration != 7 || got.KubernetesVersion != "v1.35.2" {
		t.Errorf("status is %+v", got)
	}
	if *got.Pools != 2 || *got.Machines != 3 || *got.ReadyMachines != 1 || got.Network.PodCIDRs[0] != "10.244.0.0/16" {
		t.Errorf("counts are %d %d %d", *got.Pools, *got.Machines, *got.ReadyMachines)
	}
	// An hour later nothing has changed, and a look that saw nothing takes nothing away.
	for name, later := range map[string]hosted.Report{"the same": report, "nothing": {}} {
		if diff := cmp.Diff(got, hosted.Status(cluster, later, noon.Add(time.Hour))); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
	lost := hosted.Report{Conditions: []metav1.Condition{hosted.No(api.ConditionTenantReady, api.ReasonUnreadable, "it cannot be reached")}}
	after := hosted.Status(cluster, lost, noon.Add(time.Hour))
	rolled := meta.FindStatusCondition(after.Conditions, api.ConditionReady)
	if rolled.Status != metav1.ConditionUnknown || rolled.Message != "TenantReady: it cannot be reached" || !rolled.LastTransitionTime.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) {
		t.Errorf("Ready is %+v", rolled)
	}
	if kept := meta.FindStatusCondition(after.Conditions, api.ConditionSecretsReady); !kept.LastTransitionTime.Equal(&metav1.Time{Time: noon}) {
		t.Errorf("SecretsReady changed at %s", kept.LastTransitionTime)
	}
}

func TestPoolsReady(t *testing.T) {
	fine, slow := pool("fine"), pool("slow")
	fine.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}}
	tests := map[string]struct {
		pools    []api.NodePool
		problems []string
		want     string
	}{
		"none":      {nil, nil, "True Ready 0 of 0 pools are ready"},
		"all":       {[]api.NodePool{fine}, nil, "True Ready 1 of 1 pools are ready"},
		"some":      {[]api.NodePool{slow, fine}, nil, "False Progressing 1 of 2 pools are not ready: slow"},
		"a problem": {[]api.NodePool{fine}, []string{"pool a: b", "pool c: d"}, "False Invalid pool a: b; pool c: d"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hosted.PoolsReady(test.pools, test.problems)
			if words := string(got.Status) + " " + got.Reason + " " + got.Message; words != test.want {
				t.Errorf("got %s", words)
			}
		})
	}
}

// plane is a KamajiControlPlane as its provider left it.
func plane(version string, status map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "shop"},
		"spec":     map[string]any{"version": version, "controlPlaneEndpoint": map[string]any{"host": "10.0.0.5"}}, "status": status,
	}}
}

func TestControlPlaneReady(t *testing.T) {
	waiting := []any{
		map[string]any{"type": "TenantControlPlaneCreated", "status": "True"},
		map[string]any{"type": "TenantControlPlaneAddressReady", "status": "False", "message": "no address yet"},
		map[string]any{"type": "KamajiControlPlaneIsReady", "status": "False", "message": "later"},
	}
	tests := map[string]struct {
		live *unstructured.Unstructured
		held hosted.Held
		want string
	}{
		"not made yet": {nil, hosted.Held{}, "False Progressing the control plane is being made: Kamaji has said nothing of it yet"},
		"waiting":      {plane("v1.35.2", map[string]any{"ready": false, "conditions": waiting}), hosted.Held{}, "False Progressing the control plane is being made: TenantControlPlaneAddressReady: no address yet"},
		"failed":       {plane("v1.35.2", map[string]any{"ready": false, "failureMessage": "no data store", "conditions": waiting}), hosted.Held{}, "False Progressing the control plane is being made: no data store"},
		"gone down":    {plane("v1.35.2", map[string]any{"ready": false, "version": "v1.35.2"}), hosted.Held{}, "False Failed the control plane does not serve: Kamaji does not say why: look at Deployment shop"},
		"ready":        {plane("v1.35.2", map[string]any{"ready": true, "version": "1.35.2"}), hosted.Held{}, "True Ready v1.35.2 answers at 10.0.0.5:6443"},
		"an upgrade":   {plane("v1.35.2", map[string]any{"ready": true, "version": "v1.34.9"}), hosted.Held{}, "False Progressing the control plane runs v1.34.9 and is being brought to v1.35.2"},
		"held back":    {plane("v1.36.0", map[string]any{"ready": true, "version": "v1.36.0"}), hosted.Held{Reason: api.ReasonInvalid, Why: "it stays"}, "False Invalid it stays"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			view, err := hosted.ReadControlPlane(test.live)
			if err != nil {
				t.Fatal(err)
			}
			got := hosted.ControlPlaneReady(shop(), view, test.held)
			if words := string(got.Status) + " " + got.Reason + " " + got.Message; words != test.want {
				t.Errorf("got %s", words)
			}
		})
	}
	broken := plane("v1.35.2", nil)
	broken.Object["spec"] = "nothing"
	if _, err := hosted.ReadControlPlane(broken); err == nil || !strings.Contains(err.Error(), "KamajiControlPlane shop") {
		t.Errorf("got %v", err)
	}
}

func TestBorn(t *testing.T) {
	with := func(condition metav1.Condition) *api.TalosCluster {
		cluster := shop()
		cluster.Status.Conditions = []metav1.Condition{condition}
		return cluster
	}
	tests := map[string]struct {
		cluster      *api.TalosCluster
		hasAuthority bool
		want         bool
	}{
		"new":                      {shop(), false, false},
		"its authority is there":   {shop(), true, true},
		"it had its secrets":       {with(hosted.Yes(api.ConditionSecretsReady, "")), false, true},
		"it was said to have lost": {with(hosted.No(api.ConditionSecretsReady, api.ReasonNotFound, "")), false, true},
		"it could not be read":     {with(hosted.No(api.ConditionSecretsReady, api.ReasonUnreadable, "")), false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hosted.Born(test.cluster, test.hasAuthority); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
