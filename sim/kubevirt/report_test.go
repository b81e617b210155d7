// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestStatus is what is told of a machine. A condition that stays keeps its time.
func TestStatus(t *testing.T) {
	now, earlier := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), "2026-11-15T08:00:00Z"
	was := func(status string) []any {
		return []any{
			map[string]any{"type": "Other", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"},
			map[string]any{"type": provisioned, "status": status, "lastTransitionTime": earlier},
		}
	}
	ready := report{ready: true, address: netip.MustParseAddr("127.16.1.2"), nodeUpdated: true}
	waits := report{reason: createFailed, message: "no room"}
	for name, test := range map[string]struct {
		report report
		before []any
		since  string
	}{
		"it is ready":       {ready, nil, "2026-11-15T09:00:00Z"},
		"it is ready still": {ready, was("True"), earlier},
		"it got ready":      {ready, was("False"), "2026-11-15T09:00:00Z"},
		"it waits still":    {waits, was("False"), earlier},
	} {
		t.Run(name, func(t *testing.T) {
			condition := map[string]any{"type": provisioned, "status": "True", "lastTransitionTime": test.since}
			want := map[string]any{"ready": true, "nodeupdated": true, "conditions": []any{condition}, "addresses": []any{
				address("Hostname", "web-1"), address("InternalIP", "127.16.1.2"), address("ExternalIP", "127.16.1.2"), address("InternalDNS", "web-1"),
			}}
			if !test.report.ready {
				condition["status"], condition["reason"], condition["message"], condition["severity"] = "False", createFailed, "no room", "Info"
				want = map[string]any{"ready": false, "nodeupdated": false, "conditions": []any{condition}}
			}
			if diff := cmp.Diff(want, test.report.status("web-1", test.before, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCluster is when a KubevirtCluster is ready, and whose it is.
func TestCluster(t *testing.T) {
	for name, test := range map[string]struct {
		host    string
		managed bool
		want    bool
	}{
		"with an address":  {"127.16.1.1", false, true},
		"without one":      {"", false, false},
		"of somebody else": {"127.16.1.1", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			object := kind(clusterKind)
			object.SetNamespace("tenant")
			object.SetName("shop")
			if test.managed {
				object.SetAnnotations(map[string]string{"cluster.x-k8s.io/managed-by": "kamaji"})
			}
			if err := unstructured.SetNestedField(object.Object, test.host, "spec", "controlPlaneEndpoint", "host"); err != nil {
				t.Fatal(err)
			}
			double := &Double{client: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(object).WithStatusSubresource(kind(clusterKind)).Build()}
			key := types.NamespacedName{Namespace: "tenant", Name: "shop"}
			if _, err := double.reconcileCluster(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			got := kind(clusterKind)
			if err := double.client.Get(t.Context(), key, got); err != nil {
				t.Fatal(err)
			}
			if yes(got, "status", "ready") != test.want {
				t.Errorf("%v", got.Object)
			}
		})
	}
}
