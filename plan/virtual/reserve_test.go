// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// TestCapacityIsWhatTheKubeletLeaves holds what the autoscaler is told against the configuration that machines really get.
func TestCapacityIsWhatTheKubeletLeaves(t *testing.T) {
	in := input(t, "shop-gpu")
	whole, err := hosted()
	if err != nil {
		t.Fatal(err)
	}
	contract, err := config.Contract(in.Cluster.Spec.TalosVersion)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := pki.New(contract, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	machines, err := whole.Render(in.Pool, fleet.Secrets{Bundle: secrets.Bundle})
	if err != nil {
		t.Fatal(err)
	}
	var rendered struct {
		Machine struct {
			Kubelet struct {
				ExtraConfig struct {
					SystemReserved, KubeReserved map[string]resource.Quantity
				}
			}
		}
	}
	if err := yaml.Unmarshal(machines[0].Config, &rendered); err != nil {
		t.Fatal(err)
	}
	kept := rendered.Machine.Kubelet.ExtraConfig
	if len(kept.SystemReserved) == 0 || len(kept.KubeReserved) == 0 {
		t.Fatal("the kubelet keeps nothing")
	}
	cpu, memory := in.Size.CPU.DeepCopy(), in.Size.Memory.DeepCopy()
	free := memory.Value() * 7 / 100 // what is evicted for
	for _, one := range []map[string]resource.Quantity{kept.SystemReserved, kept.KubeReserved} {
		cpu.Sub(one["cpu"])
		memory.Sub(one["memory"])
	}
	offered := objects(t, in).Capacity
	if got := offered["cpu"]; got.Cmp(cpu) != 0 {
		t.Errorf("cpu %s; the kubelet leaves %s", got.String(), cpu.String())
	}
	if got := offered["memory"]; got.Value() != (memory.Value()-free)>>20<<20 {
		t.Errorf("memory %s; the kubelet leaves %s", got.String(), memory.String())
	}
}
