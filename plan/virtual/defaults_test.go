// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/virtual"
)

// TestHealthTimes gives machines the time that they take: to join, to be silent, not to be ready.
func TestHealthTimes(t *testing.T) {
	quick := int32(90)
	tests := map[string]struct {
		health *api.Health
		want   [3]int64 // to join, not ready, silent
	}{
		"nobody says anything": {nil, [3]int64{1200, 600, 300}},
		"only how many":        {&api.Health{Failed: api.FailedReplace}, [3]int64{1200, 600, 300}},
		"as the pool says": {
			&api.Health{StartupTimeoutSeconds: &quick, NotReadyTimeoutSeconds: &quick, UnknownTimeoutSeconds: &quick}, [3]int64{90, 90, 90},
		},
	}
	for name, test := range tests {
		in := input(t, "shop-gateway")
		in.Pool.Spec.Health = test.health
		checks, _, _ := unstructured.NestedMap(objects(t, in).Health.Object, "spec", "checks")
		got := [3]int64{checks["nodeStartupTimeoutSeconds"].(int64)}
		for _, each := range checks["unhealthyNodeConditions"].([]any) {
			condition := each.(map[string]any)
			at := map[any]int{"False": 1, "Unknown": 2}[condition["status"]]
			got[at] = condition["timeoutSeconds"].(int64)
		}
		if got != test.want {
			t.Errorf("%s: %v; want %v", name, got, test.want)
		}
	}
}

// TestQuantities says one size in several ways, and wants one machine of it with one capacity.
func TestQuantities(t *testing.T) {
	most := int32(3)
	machine := func(cpu, memory string) virtual.Objects {
		in := input(t, "shop-gateway")
		in.Size = &api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}
		in.Pool.Spec.Machine.KubeVirt.Size.Resources = in.Size
		in.Pool.Spec.Autoscaling = &api.Autoscaling{Max: &most}
		return objects(t, in)
	}
	want := machine("2", "4Gi")
	for _, said := range [][2]string{{"2000m", "4096Mi"}, {"2000000u", "4294967296"}, {"2000000000n", "4294967296000m"}} {
		got := machine(said[0], said[1])
		if got.Template.GetName() != want.Template.GetName() {
			t.Errorf("%v is machine %s, and not %s", said, got.Template.GetName(), want.Template.GetName())
		}
		if diff := gocmp.Diff(want.Deployment.GetAnnotations(), got.Deployment.GetAnnotations()); diff != "" {
			t.Errorf("%v: %s", said, diff)
		}
		cores, _, _ := unstructured.NestedInt64(got.Template.Object, "spec", "template", "spec", "virtualMachineTemplate", "spec", "template", "spec", "domain", "cpu", "cores")
		if cores != 2 {
			t.Errorf("%v has %d cores", said, cores)
		}
	}
}
