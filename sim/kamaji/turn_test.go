// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"minos.dev/minos/sim/hosted"
)

// TestStarted asks whether a control plane may be called initialized.
func TestStarted(t *testing.T) {
	runs := &hosted.ControlPlane{}
	now := time.Now()
	for name, test := range map[string]struct {
		pod    pod
		faults Faults
		before bool
		want   string
	}{
		"it runs":            {pod: pod{plane: runs, since: now}},
		"it does not run":    {want: "does not run"},
		"it is held":         {pod: pod{plane: runs, since: now}, faults: Faults{Hold: true}, want: "held back"},
		"it is slow":         {pod: pod{plane: runs, since: now}, faults: Faults{Latency: time.Hour}, want: "not ready yet"},
		"it was slow":        {pod: pod{plane: runs, since: now.Add(-2 * time.Hour)}, faults: Faults{Latency: time.Hour}},
		"it was initialized": {before: true, faults: Faults{Hold: true}},
	} {
		u := &turn{tenant: &tenant{pod: test.pod}, faults: test.faults, report: readReport(&unstructured.Unstructured{Object: map[string]any{}})}
		if test.before {
			u.report.initialize()
		}
		err := u.started(t.Context())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q in it", name, err, test.want)
		}
	}
}

// TestRollOut follows a new version.
func TestRollOut(t *testing.T) {
	u := &turn{tenant: &tenant{pod: pod{plane: &hosted.ControlPlane{}}}, spec: spec{Version: "1.36.3"}}
	u.report = readReport(&unstructured.Unstructured{Object: map[string]any{}})
	step := func(want string) {
		t.Helper()
		got := u.rollOut()
		u.report.roll(got)
		if got != want {
			t.Errorf("the version is %s, want %s", got, want)
		}
	}
	step("v1.36.3") // the first is there with the control plane
	u.spec.Version, u.faults = "v1.37.1", Faults{Latency: time.Hour}
	step("v1.36.3")
	u.rolling = time.Now().Add(-2 * time.Hour)
	u.faults.Hold = true
	step("v1.36.3")
	u.faults.Hold = false
	step("v1.37.1")
	step("v1.37.1")
	u.spec.Version = "v1.37.2"
	step("v1.37.1") // the latency begins again
}

func TestEndpoint(t *testing.T) {
	at := netip.MustParseAddrPort("127.16.1.1:6443")
	for name, test := range map[string]struct {
		network network
		host    string
		port    int64
	}{
		"its own":           {network{}, "127.16.1.1", 6443},
		"an ingress's":      {network{Ingress: &host{"shop.example.com"}}, "shop.example.com", 443},
		"with a port":       {network{Ingress: &host{"shop.example.com:8443"}}, "shop.example.com", 8443},
		"a gateway's":       {network{Gateway: &host{"shop.example.com"}}, "shop.example.com", 443},
		"an ingress's wins": {network{Ingress: &host{"a.example.com"}, Gateway: &host{"b.example.com"}}, "a.example.com", 443},
	} {
		host, port, err := spec{Network: test.network}.endpoint(at)
		if err != nil || host != test.host || port != test.port {
			t.Errorf("%s: got %s:%d, %v", name, host, port, err)
		}
	}
	if _, _, err := (spec{Network: network{Ingress: &host{"a:b:c"}}}).endpoint(at); err == nil {
		t.Error("a host name that is none was taken")
	}
}

func TestNames(t *testing.T) {
	got := spec{Network: network{
		CertSANs: []string{"z.example.com", "shop.tenants.svc"}, AdvertiseAddress: "192.0.2.1", Ingress: &host{"a.example.com:443"},
	}}.names(types.NamespacedName{Namespace: "tenants", Name: "shop"})
	want := []string{"192.0.2.1", "a.example.com", "shop.tenants.svc", "shop.tenants.svc.cluster.local", "z.example.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestReadSpec(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"network": map[string]any{"certSANs": []any{"a.example.com:443"}}}}}
	if _, err := readSpec(object); err == nil || !strings.Contains(err.Error(), "a.example.com:443 of certSANs has a port") {
		t.Errorf("got %v", err)
	}
}

func TestOwner(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Cluster", Name: "other"}})
	if got := ownerOf(object); got != "" {
		t.Errorf("it belongs to %s", got)
	}
	object.SetOwnerReferences(append(object.GetOwnerReferences(), metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "shop"}))
	if got := ownerOf(object); got != "shop" {
		t.Errorf("it belongs to %q", got)
	}
}
