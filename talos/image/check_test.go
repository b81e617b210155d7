// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

// on returns a role for some architectures only.
func on(r *api.NodeRole, architectures ...api.Architecture) *api.NodeRole {
	r.Spec.Hardware = &api.Hardware{Architectures: architectures}
	return r
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		role    *api.NodeRole
		version api.TalosVersion
		arch    api.Architecture
		want    string
	}{
		"it can be made":       {role("drbd", "zfs"), "v1.13.9", "arm64", ""},
		"in a release to come": {role("drbd", "zfs"), "v1.99.0", "amd64", ""},
		"a slip": {
			role("drbd", "zsf"), "v1.13.9", "amd64",
			`role "edge": system extension "zsf" does not exist, did you mean "zfs" (in every release)?`,
		},
		"two things wrong": {
			role("i915-ucode", "nvidia-container-toolkit-lts"), "v1.13.9", "amd64",
			`role "edge": system extension "i915-ucode" was renamed after v1.8.4: write "i915"` + "\n" +
				`role "edge": nvidia-container-toolkit-lts needs one of nvidia-open-gpu-kernel-modules-lts, nonfree-kmod-nvidia-lts in the same image`,
		},
		"not for this processor":      {role("amdgpu"), "v1.13.9", "arm64", `role "edge": system extension "amdgpu" has nothing for arm64: it is for [amd64] only`},
		"not for this hardware":       {on(role(), "amd64"), "v1.13.9", "arm64", `role "edge": no image for arm64: its hardware is amd64`},
		"not an official one":         {role("acme/frobnicator"), "v1.13.9", "amd64", `role "edge": system extension "acme/frobnicator" does not exist: 'minos image extensions' lists those that do`},
		"a version that is not full":  {role(), "v1.13", "amd64", `talos version "v1.13" is not a full version such as v1.13.9`},
		"a version without its v":     {role(), "1.13.9", "amd64", `talos version "1.13.9" is not a full version such as v1.13.9`},
		"a version that is none":      {role(), "newest", "amd64", `talos version "newest" is not a full version such as v1.13.9`},
		"an extension before its day": {role("xe"), "v1.11.6", "amd64", `role "edge": system extension "xe" exists since v1.12.0, and not in v1.11.6: choose a newer Talos version, or do without`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := message(image.Check(test.role, test.version, test.arch)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCheckNamesRoleAndExtension(t *testing.T) {
	problem, ok := errors.AsType[*image.RoleError](image.Check(role("zsf"), "v1.13.9", "amd64"))
	if !ok || problem.Role != "edge" || problem.Extension != "zsf" {
		t.Errorf("got %+v", problem)
	}
	problem, ok = errors.AsType[*image.RoleError](image.Check(role("nvidia-container-toolkit-lts"), "v1.13.9", "amd64"))
	if !ok || problem.Extension != "nvidia-container-toolkit-lts" {
		t.Errorf("got %+v", problem)
	}
}

func TestAssumed(t *testing.T) {
	tests := map[string]struct {
		version api.TalosVersion
		want    string
	}{
		"a release that was read":   {"v1.13.9", ""},
		"a release to come":         {"v1.99.0", "assumed: Talos v1.99.0, newer than the catalogue of extensions, has those of v1.14.0-rc.1"},
		"a release long ago":        {"v1.5.0", "assumed: Talos v1.5.0, older than the catalogue of extensions, has those of v1.7.0"},
		"a version that is no such": {"newest", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := image.Assumed(test.version); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestArchitectures(t *testing.T) {
	tests := map[string]struct {
		role        *api.NodeRole
		want        []api.Architecture
		wantLeftOut []string
		wantErr     string
	}{
		"both":            {role: role("drbd"), want: []api.Architecture{"amd64", "arm64"}},
		"by its hardware": {role: on(role("amdgpu"), "amd64"), want: []api.Architecture{"amd64"}},
		"in our order":    {role: on(role("drbd"), "arm64", "amd64"), want: []api.Architecture{"amd64", "arm64"}},
		"by its extensions": {
			role: role("amdgpu"), want: []api.Architecture{"amd64"},
			wantLeftOut: []string{`no image for arm64: role "edge": system extension "amdgpu" has nothing for arm64: it is for [amd64] only`},
		},
		"against its hardware": {
			role:    on(role("amdgpu"), "amd64", "arm64"),
			wantErr: `role "edge": system extension "amdgpu" has nothing for arm64: it is for [amd64] only`,
		},
		"nowhere": {
			role:    role("zsf"),
			wantErr: `role "edge": system extension "zsf" does not exist, did you mean "zfs" (in every release)?`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, leftOut, err := image.Architectures(test.role, "v1.13.9")
			if message(err) != test.wantErr {
				t.Fatalf("got %v, want %s", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.wantLeftOut, leftOut); diff != "" {
				t.Error(diff)
			}
		})
	}
}
