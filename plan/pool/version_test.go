// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
)

// TestSettle rolls nothing to versions that do not go together, and takes none from machines that have such.
func TestSettle(t *testing.T) {
	type versions struct {
		talos      api.TalosVersion
		kubernetes api.KubernetesVersion
	}
	had := versions{"v1.10.5", "v1.30.4"}
	tests := map[string]struct {
		declared versions
		kubelet  api.KubernetesVersion
		has      versions
		want     string
	}{
		"they go together":     {versions{"v1.13.9", "v1.36.3"}, "v1.36.3", had, "v1.13.9 v1.36.3"},
		"a pool without any":   {versions{"v1.13.9", "v1.36.3"}, "v1.36.3", versions{}, "v1.13.9 v1.36.3"},
		"Kubernetes is behind": {versions{"v1.13.9", "v1.36.3"}, "v1.35.0", had, "v1.13.9 v1.35.0"},
		"Talos is too old": {
			versions{"v1.10.5", "v1.36.3"}, "v1.36.3", had,
			"v1.10.5 v1.30.4; Invalid: Talos v1.10.5 does not run Kubernetes v1.36.3: it runs 1.28 to 1.33; machines stay at Talos v1.10.5 and Kubernetes v1.30.4: " +
				"set talosVersion and kubernetesVersion of TalosCluster shop to versions that go together",
		},
		"Talos is too old for a new pool": {
			versions{"v1.10.5", "v1.36.3"}, "v1.36.3", versions{},
			" ; Invalid: Talos v1.10.5 does not run Kubernetes v1.36.3: it runs 1.28 to 1.33; no machines are made: " +
				"set talosVersion and kubernetesVersion of TalosCluster shop to versions that go together",
		},
		"both go up, and the API server is not there yet": {
			versions{"v1.13.9", "v1.36.3"}, "v1.30.4", had,
			"v1.10.5 v1.30.4; Waiting: waits until the API server of TalosCluster shop runs a version that goes with its talosVersion: " +
				"Talos v1.13.9 does not run Kubernetes v1.30.4: it runs 1.31 to 1.36; machines stay at Talos v1.10.5 and Kubernetes v1.30.4",
		},
		"machines have it already": {
			versions{"v1.10.5", "v1.36.3"}, "v1.36.3", versions{"v1.10.5", "v1.36.3"},
			"v1.10.5 v1.36.3, but Talos v1.10.5 does not run Kubernetes v1.36.3: it runs 1.28 to 1.33",
		},
		"a release that nobody knows": {
			versions{"v1.99.0", "v1.36.3"}, "v1.36.3", had,
			"v1.99.0 v1.36.3, but Talos v1.99.0 is not known to this release of Minos: choose a version that it knows, or upgrade Minos",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: api.TalosClusterSpec{TalosVersion: test.declared.talos, KubernetesVersion: test.declared.kubernetes}}
			of := &api.NodePool{Status: api.NodePoolStatus{TalosVersion: test.has.talos, KubernetesVersion: test.has.kubernetes}}
			found := pool.Settle(cluster, test.kubelet, of)
			got := fmt.Sprintf("%s %s", found.Talos, found.Kubernetes)
			if found.Refusal != nil {
				got += "; " + found.Refusal.Reason + ": " + found.Refusal.Message
			}
			if found.Doubt != "" {
				got += ", but " + found.Doubt
			}
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// TestHasServices tells roles whose machines have services from those whose have none.
func TestHasServices(t *testing.T) {
	for name, test := range map[string]struct {
		role api.NodeRoleSpec
		want bool
	}{
		"nothing":                   {},
		"extensions without any":    {role: api.NodeRoleSpec{Extensions: []string{"siderolabs/drbd", "spin"}}},
		"an extension with one":     {role: api.NodeRoleSpec{Extensions: []string{"drbd", "siderolabs/tailscale"}}, want: true},
		"an extension nobody knows": {role: api.NodeRoleSpec{Extensions: []string{"frobnicator"}}, want: true},
		"one that it configures":    {role: api.NodeRoleSpec{Services: []api.ExtensionService{{Name: "tailscale"}}}, want: true},
	} {
		got, err := pool.HasServices(&api.NodeRole{Spec: test.role})
		if err != nil || got != test.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
