// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// wards are a deployment of four with so many machines that failed, and so many that are kept.
func wards(t *testing.T, failed, kept int) virtual.Live {
	t.Helper()
	story := deployment
	machine := func(name, annotations string) {
		story += fmt.Sprintf(`---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: %s, resourceVersion: "7", annotations: {%s}}
status: {conditions: [{type: HealthCheckSucceeded, status: "False", message: "Health check failed:\n  * no Node of %s in time"}]}
`, name, annotations, name)
	}
	for at := range failed {
		machine(fmt.Sprintf("workers-%d", at+1), "")
	}
	for at := range kept {
		machine(fmt.Sprintf("kept-%d", at+1), "minos.dev/kept: it broke")
	}
	return read(t, story)
}

func TestKeep(t *testing.T) {
	half, two, none := intstr.FromString("50%"), intstr.FromInt32(2), intstr.FromString("0%")
	tests := map[string]struct {
		health       *api.Health
		failed, kept int
		want         int
		held         string
	}{
		"nothing is said":                 {nil, 1, 0, 0, ""},
		"they are replaced":               {&api.Health{Failed: api.FailedReplace}, 1, 0, 0, ""},
		"one of four, by default":         {&api.Health{Failed: api.FailedKeep}, 1, 0, 1, ""},
		"as many as may":                  {&api.Health{Failed: api.FailedKeep, MaxUnhealthy: &half}, 2, 0, 2, ""},
		"too many":                        {&api.Health{Failed: api.FailedKeep, MaxUnhealthy: &two}, 3, 0, 0, "3 of 4 machines have failed and at most 2 may"},
		"none may":                        {&api.Health{Failed: api.FailedKeep, MaxUnhealthy: &none}, 1, 0, 0, "at most 0 may"},
		"one beside one that is kept":     {&api.Health{Failed: api.FailedKeep, MaxUnhealthy: &two}, 2, 1, 1, ""},
		"no more than that many are kept": {&api.Health{Failed: api.FailedKeep, MaxUnhealthy: &two}, 1, 2, 0, ""},
		"all work":                        {&api.Health{Failed: api.FailedKeep}, 0, 1, 0, ""},
	}
	for name, test := range tests {
		wanted := &api.NodePool{Spec: api.NodePoolSpec{Health: test.health}}
		got := wards(t, test.failed, test.kept).Keep(wanted)
		if len(got.Take) != test.want || !strings.Contains(got.Held, test.held) || (got.Held == "") != (test.held == "") {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Take) > 0 && got.Take[0] != (machines.Reasoned{Name: "workers-1", Reason: "Health check failed: no Node of the machine in time"}) {
			t.Errorf("%s: %+v", name, got.Take[0])
		}
	}
	leaving := wards(t, 1, 0)
	if err := unstructured.SetNestedField(leaving.Machines[0].Object, "2026-11-15T09:00:00Z", "metadata", "deletionTimestamp"); err != nil {
		t.Fatal(err)
	}
	if got := leaving.Keep(&api.NodePool{Spec: api.NodePoolSpec{Health: &api.Health{Failed: api.FailedKeep}}}); len(got.Take) > 0 {
		t.Errorf("a machine on its way out is kept: %+v", got)
	}
}

// TestTheHealthCheckReplacesNoneThatIsKept lets Cluster API replace failed machines only when no more of them may be kept.
func TestTheHealthCheckReplacesNoneThatIsKept(t *testing.T) {
	share := intstr.FromString("50%")
	for kept, want := range map[int32]any{0: int64(0), 1: int64(0), 2: "50%", 3: "50%"} {
		in := input(t, "shop-gateway")
		in.Pool.Spec.Health, in.Have, in.Kept = &api.Health{Failed: api.FailedKeep, MaxUnhealthy: &share}, 4, kept
		got, _, _ := unstructured.NestedFieldNoCopy(objects(t, in).Health.Object, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo")
		if got != want {
			t.Errorf("%d are kept: %v; want %v", kept, got, want)
		}
	}
}

// TestKeptMachinesAreNotThePools counts them apart and names them.
func TestKeptMachinesAreNotThePools(t *testing.T) {
	seen := wards(t, 0, 1).Seen()
	want := pool.Seen{Desired: 4, Notes: []string{"Machine kept-1 failed and is kept for study until somebody deletes it: it broke"}}
	if diff := gocmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// TestTake takes a machine out of its set: neither its labels nor its owner lead back, and only as it was seen.
func TestTake(t *testing.T) {
	owner := &api.NodePool{}
	owner.Name, owner.UID = "workers", "1234"
	patch := virtual.Take(owner, &wards(t, 1, 0).Machines[0], "it broke")["metadata"].(map[string]any)
	if diff := gocmp.Diff(map[string]any{"cluster.x-k8s.io/deployment-name": nil, "cluster.x-k8s.io/set-name": nil, "machine-template-hash": nil}, patch["labels"]); diff != "" {
		t.Error(diff)
	}
	if patch["resourceVersion"] != "7" || patch["annotations"].(map[string]any)[machines.AnnotationKept] != "it broke" {
		t.Errorf("%v", patch)
	}
	if diff := gocmp.Diff(virtual.Owner(owner), patch["ownerReferences"].([]metav1.OwnerReference)[0]); diff != "" {
		t.Error(diff)
	}
}
