// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

func role(name string, spec api.NodeRoleSpec) *api.NodeRole {
	return &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func resolve(t *testing.T, name api.Name, declared ...*api.NodeRole) api.NodeRoleSpec {
	t.Helper()
	roles, err := talos.NewRoles(declared...)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := roles.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	return resolved.Spec
}

// TestBuiltinRoles holds each built-in role to what it is for: its image, and what that image needs in order to boot.
func TestBuiltinRoles(t *testing.T) {
	type facts struct {
		Extensions, Modules, Services []string
		MachineType                   api.MachineType
		PerCluster                    api.PerCluster
		GPU                           api.GPUVendor
	}
	want := map[string]facts{
		"control-plane": {MachineType: "ControlPlane", PerCluster: "HA"},
		"plain":         {MachineType: "Worker", PerCluster: "Any"},
		"compute":       {Extensions: []string{"drbd", "spin", "zfs"}, Modules: []string{"drbd", "zfs"}, MachineType: "Worker", PerCluster: "Any"},
		"gateway": {
			Extensions: []string{"drbd", "spin", "tailscale", "zfs"}, Modules: []string{"drbd", "zfs"}, Services: []string{"tailscale"},
			MachineType: "Worker", PerCluster: "One",
		},
		"storage": {Extensions: []string{"iscsi-tools", "util-linux-tools"}, MachineType: "Worker", PerCluster: "Any"},
		"gpu-nvidia": {
			Extensions: []string{"nvidia-container-toolkit-production", "nvidia-open-gpu-kernel-modules-production"},
			Modules:    []string{"nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm"}, MachineType: "Worker", PerCluster: "Any", GPU: "NVIDIA",
		},
		"gpu-amd":   {Extensions: []string{"amd-ucode", "amdgpu"}, MachineType: "Worker", PerCluster: "Any", GPU: "AMD"},
		"gpu-intel": {Extensions: []string{"i915", "intel-ucode"}, MachineType: "Worker", PerCluster: "Any", GPU: "Intel"},
	}
	got := map[string]facts{}
	for _, name := range talos.BuiltinRoleNames() {
		spec := resolve(t, api.Name(name))
		f := facts{Extensions: slices.Sorted(slices.Values(spec.Extensions)), MachineType: spec.MachineType, PerCluster: spec.PerCluster}
		for _, module := range spec.KernelModules {
			f.Modules = append(f.Modules, module.Name)
		}
		for _, service := range spec.Services {
			f.Services = append(f.Services, string(service.Name))
		}
		if spec.Hardware != nil {
			f.GPU = spec.Hardware.GPU
		}
		got[name] = f
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBuiltinRolesAreValid reads them as a user's file is read: a copy of one must be accepted.
func TestBuiltinRolesAreValid(t *testing.T) {
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range talos.BuiltinRoleNames() {
		text, err := talos.BuiltinRole(name)
		if err != nil {
			t.Fatal(err)
		}
		documents, problems := reader.Read(name+".yaml", text)
		if len(documents) != 1 || len(problems) > 0 {
			t.Errorf("%d documents; %v", len(documents), problems)
			continue
		}
		if got := documents[0].Object.GetName(); got != name {
			t.Errorf("%s.yaml holds role %q", name, got)
		}
	}
}

func TestResolve(t *testing.T) {
	tests := map[string]struct {
		declared []*api.NodeRole
		want     api.NodeRoleSpec
	}{
		"lists and maps are added up, and the special role wins": {
			declared: []*api.NodeRole{
				role("base", api.NodeRoleSpec{
					Extensions: []string{"a", "b"}, Sysctls: map[string]string{"x": "1", "y": "1"}, Labels: map[string]string{"l": "base"},
					KernelModules: []api.KernelModule{{Name: "m", Parameters: []string{"p=1"}}},
					Taints:        []api.Taint{{Key: "k", Effect: "NoSchedule"}},
					Config:        &api.Layer{Patches: []api.Patch{{Raw: []byte(`{"a":1}`)}}},
					Hardware:      &api.Hardware{GPU: api.GPUAMD, Architectures: []api.Architecture{"amd64", "arm64"}},
					MachineType:   api.MachineWorker, PerCluster: api.PerClusterOne, Description: "base",
				}),
				role("it", api.NodeRoleSpec{
					Extends: "base", Extensions: []string{"b", "c"}, Sysctls: map[string]string{"y": "2"}, Labels: map[string]string{"n": "it"},
					KernelModules: []api.KernelModule{{Name: "m"}, {Name: "n"}},
					Taints:        []api.Taint{{Key: "k", Effect: "NoExecute"}, {Key: "m", Effect: "NoSchedule"}},
					Config:        &api.Layer{Patches: []api.Patch{{Raw: []byte(`{"b":1}`)}}},
					Hardware:      &api.Hardware{Architectures: []api.Architecture{"amd64"}},
					PerCluster:    api.PerClusterHA, Description: "it",
				}),
			},
			want: api.NodeRoleSpec{
				Extensions: []string{"a", "b", "c"}, Sysctls: map[string]string{"x": "1", "y": "2"}, Labels: map[string]string{"l": "base", "n": "it"},
				KernelModules: []api.KernelModule{{Name: "m"}, {Name: "n"}},
				Taints:        []api.Taint{{Key: "k", Effect: "NoExecute"}, {Key: "m", Effect: "NoSchedule"}},
				Config:        &api.Layer{Patches: []api.Patch{{Raw: []byte(`{"a":1}`)}, {Raw: []byte(`{"b":1}`)}}},
				Hardware:      &api.Hardware{GPU: api.GPUAMD, Architectures: []api.Architecture{"amd64"}},
				MachineType:   api.MachineWorker, PerCluster: api.PerClusterHA, Description: "it",
			},
		},
		"services merge variable by variable": {
			declared: []*api.NodeRole{
				role("base", api.NodeRoleSpec{Services: []api.ExtensionService{{Name: "s", Environment: []api.ServiceVariable{
					{Name: "A", From: api.ValueSource{Value: "1"}}, {Name: "B", From: api.ValueSource{Value: "1"}},
				}}}}),
				role("it", api.NodeRoleSpec{Extends: "base", Services: []api.ExtensionService{
					{Name: "s", Environment: []api.ServiceVariable{{Name: "B", From: api.ValueSource{Value: "2"}}}},
					{Name: "t", Files: []api.ServiceFile{{Path: "/f", From: api.ValueSource{Value: "x"}}}},
				}}),
			},
			want: api.NodeRoleSpec{
				MachineType: api.MachineWorker, PerCluster: api.PerClusterAny,
				Services: []api.ExtensionService{
					{Name: "s", Environment: []api.ServiceVariable{{Name: "A", From: api.ValueSource{Value: "1"}}, {Name: "B", From: api.ValueSource{Value: "2"}}}},
					{Name: "t", Files: []api.ServiceFile{{Path: "/f", From: api.ValueSource{Value: "x"}}}},
				},
			},
		},
		"a declared role replaces a built-in one, also where others extend it": {
			declared: []*api.NodeRole{
				role("compute", api.NodeRoleSpec{Extensions: []string{"gvisor"}}),
				role("it", api.NodeRoleSpec{Extends: "compute"}),
			},
			want: api.NodeRoleSpec{Extensions: []string{"gvisor"}, MachineType: api.MachineWorker, PerCluster: api.PerClusterAny},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := make([]*api.NodeRole, 0, len(test.declared))
			for _, declared := range test.declared {
				before = append(before, declared.DeepCopy())
			}
			if diff := cmp.Diff(test.want, resolve(t, "it", test.declared...)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.declared); diff != "" {
				t.Errorf("resolving changed what was declared: %s", diff)
			}
		})
	}
}

func TestRolesThatLeadNowhere(t *testing.T) {
	tests := map[string]struct {
		declared []*api.NodeRole
		name     api.Name
		want     string
	}{
		"a slip of the finger":   {nil, "gatway", `there is no role "gatway", did you mean "gateway"?`},
		"nothing near":           {nil, "database", `there is no role "database": the known ones are [compute control-plane gateway gpu-amd gpu-intel gpu-nvidia plain storage]`},
		"it extends nothing":     {[]*api.NodeRole{role("it", api.NodeRoleSpec{Extends: "compite"})}, "it", `role "it" extends a role that does not exist: there is no role "compite", did you mean "compute"?`},
		"it extends itself":      {[]*api.NodeRole{role("it", api.NodeRoleSpec{Extends: "it"})}, "it", `role "it" extends itself, by way of "it": end the circle in one of them`},
		"a circle of two":        {[]*api.NodeRole{role("it", api.NodeRoleSpec{Extends: "that"}), role("that", api.NodeRoleSpec{Extends: "it"})}, "it", `role "it" extends itself, by way of "that": end the circle in one of them`},
		"a circle further below": {[]*api.NodeRole{role("it", api.NodeRoleSpec{Extends: "a"}), role("a", api.NodeRoleSpec{Extends: "b"}), role("b", api.NodeRoleSpec{Extends: "a"})}, "it", `role "a" extends itself, by way of "b": end the circle in one of them`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			roles, err := talos.NewRoles(test.declared...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := roles.Resolve(test.name); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestBuiltinRoleOfAnotherName(t *testing.T) {
	if _, err := talos.BuiltinRole("../doc"); err == nil || !strings.Contains(err.Error(), "is not a built-in role") {
		t.Errorf("got %v", err)
	}
}
