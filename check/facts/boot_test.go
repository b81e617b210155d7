// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/boot"
)

// TestSurroundings holds what is known of a machine to what is declared about it.
func TestSurroundings(t *testing.T) {
	pool := func(spec api.Machine, gpu api.GPUVendor) *Pool {
		role := &api.NodeRole{}
		role.Spec.Hardware = &api.Hardware{GPU: gpu}
		object := &api.NodePool{}
		object.Spec.Machine = spec
		return &Pool{Object: object, Role: role}
	}
	all := []string{boot.PathNVIDIA, boot.PathGuestChannel, boot.PathHyperVKVP, boot.PathHyperVVSS}
	tests := map[string]struct {
		machine Machine
		want    boot.Surroundings
	}{
		"nothing is known": {Machine{}, boot.Surroundings{Unsure: all}},
		"notes": {
			Machine{Notes: map[Note]string{NoteHardware: "nvidia, iscsi", NoteHypervisor: "QEMU", NoteGuestChannel: "enabled", NotePlatform: "nocloud"}},
			boot.Surroundings{GPU: "nvidia", Platform: "nocloud", Devices: all[1:2]},
		},
		"a channel that is off": {
			Machine{Notes: map[Note]string{NoteHardware: "none", NoteHypervisor: "qemu", NoteGuestChannel: "disabled"}}, boot.Surroundings{},
		},
		"Hyper-V": {
			Machine{Notes: map[Note]string{NoteHardware: "none", NoteHypervisor: "hyperv"}}, boot.Surroundings{Devices: all[2:]},
		},
		"a machine of metal whose role asks for a processor": {
			Machine{Host: &api.MetalHost{}, Pool: pool(api.Machine{Metal: &api.MetalMachine{}}, api.GPUNVIDIA), Platform: "metal"},
			boot.Surroundings{GPU: "nvidia", Platform: "metal"},
		},
		"a machine of KubeVirt": {
			Machine{Pool: pool(api.Machine{KubeVirt: &api.KubeVirtMachine{GPUs: []api.KubeVirtGPU{{DeviceName: "nvidia.com/GA102GL_A10"}}}}, ""), Platform: "openstack"},
			boot.Surroundings{GPU: "nvidia", Platform: "openstack", Devices: all[1:2]},
		},
		"a simulated machine without the processor that its role asks for": {
			Machine{Pool: pool(api.Machine{Sim: &api.SimMachine{}}, api.GPUNVIDIA)}, boot.Surroundings{Unsure: all[1:]},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.machine.Surroundings()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTargets wants the versions with which a schematic is used, from the nearest who says it.
func TestTargets(t *testing.T) {
	schematic := &SchematicFact{ID: vanilla}
	folder := &Facts{Settings: Settings{TalosVersion: "v1.13.9"}, Clusters: []*Cluster{{Machines: []*Machine{{TalosVersion: "v1.12.1"}}}, {}}}
	if got := folder.Targets(schematic); !slices.Equal(got, []api.TalosVersion{"v1.12.1", "v1.13.9"}) {
		t.Errorf("of the folder: %v", got)
	}
	if got := (&Facts{}).Targets(schematic); len(got) > 0 {
		t.Errorf("of nobody: %v", got)
	}
	schematic.TalosVersion = "v1.14.0"
	if got := folder.Targets(schematic); !slices.Equal(got, []api.TalosVersion{"v1.14.0"}) {
		t.Errorf("its own: %v", got)
	}
}

// TestCatalogued wants later patches of a line that was read to be known, and later lines not.
func TestCatalogued(t *testing.T) {
	for version, want := range map[api.TalosVersion]bool{"v1.13.9": true, "v1.14.7": true, "v1.99.0": false, "v1.5.0": false, "newest": false} {
		if got := Catalogued(version); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}
