// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
)

// TestKubeletRefusals holds the kubelet's bounds against each other and against the machine.
func TestKubeletRefusals(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/worker.txtar")
	if err != nil {
		t.Fatal(err)
	}
	amount := func(cpu, memory string) *api.Resources {
		return &api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}
	}
	tests := map[string]struct {
		kubelet  api.Kubelet
		capacity *api.Resources
		want     string
	}{
		"fine":                  {api.Kubelet{EvictionHardMemory: "256Mi", EvictionSoftMemory: "512Mi"}, amount("2", "4Gi"), ""},
		"upside down":           {api.Kubelet{EvictionHardMemory: "20%"}, nil, "pool layer: kubelet.evictionSoftMemory 10% must be more than evictionHardMemory 20%: it is the first to be reached"},
		"amounts upside down":   {api.Kubelet{EvictionHardMemory: "1Gi", EvictionSoftMemory: "512Mi"}, nil, "pool layer: kubelet.evictionSoftMemory 512Mi must be more than evictionHardMemory 1Gi: it is the first to be reached"},
		"a share and an amount": {api.Kubelet{EvictionHardMemory: "256Mi"}, nil, "pool layer: kubelet.evictionHardMemory 256Mi and evictionSoftMemory 10% cannot be compared: give both as shares or both as amounts"},
		"more than there is":    {api.Kubelet{SystemReserved: amount("100m", "4Gi")}, amount("2", "4Gi"), "pool layer: kubelet keeps 100m and 4Gi of a machine that has 2 and 4Gi: nothing would be left for pods"},
		"of a size not known":   {api.Kubelet{SystemReserved: amount("100m", "4Gi")}, nil, ""},
		"all of the processor":  {api.Kubelet{KubeReserved: amount("2", "1Gi")}, amount("2", "4Gi"), "pool layer: kubelet keeps 2 and 1Gi of a machine that has 2 and 4Gi: nothing would be left for pods"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, archive.Files[0].Data, "v1.13.9")
			in.Pool.Spec.Config, in.Capacity = &api.PoolConfig{Kubelet: &test.kubelet}, test.capacity
			_, err := render(in)
			if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && got != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestReservations expects 5% within bounds, and nothing where the size is not known.
func TestReservations(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/worker.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{"1/4Gi": "50m/256Mi", "4/8Gi": "200m/409Mi", "64/256Gi": "500m/1Gi", "": "none"}
	for size, want := range tests {
		in := input(t, archive.Files[0].Data, "v1.13.9")
		in.Pool.Spec.Config = nil
		if cpu, memory, known := strings.Cut(size, "/"); known {
			in.Capacity = &api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}
		}
		text, err := render(in)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if _, after, found := strings.Cut(text, "systemReserved:"); found {
			fields := strings.Fields(after)
			got = fields[1] + "/" + fields[3]
		}
		if got != want {
			t.Errorf("a machine of %q: kept %s, want %s", size, got, want)
		}
	}
}
