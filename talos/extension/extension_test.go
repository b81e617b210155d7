// SPDX-License-Identifier: Apache-2.0

package extension_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

func load(t *testing.T) *extension.Catalogue {
	t.Helper()
	c, err := extension.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		name    string
		version api.TalosVersion
		arch    api.Architecture
		want    string
	}{
		"it is there":                         {"drbd", "v1.13.9", "amd64", ""},
		"with its prefix":                     {"siderolabs/drbd", "v1.13.9", "arm64", ""},
		"in a patch that was not read":        {"drbd", "v1.13.99", "amd64", ""},
		"in a release newer than all":         {"xe", "v1.20.0", "amd64", ""},
		"not yet":                             {"xe", "v1.11.6", "amd64", `system extension "xe" exists since v1.12.0, and not in v1.11.6: choose a newer Talos version, or do without`},
		"renamed":                             {"i915-ucode", "v1.13.9", "amd64", `system extension "i915-ucode" was renamed after v1.8.4: write "i915"`},
		"its old name in an old release":      {"i915-ucode", "v1.8.4", "amd64", ""},
		"its old name in a later patch of it": {"i915-ucode", "v1.8.9", "amd64", ""},
		"for another processor":               {"amdgpu", "v1.13.9", "arm64", `system extension "amdgpu" has nothing for arm64: it is for [amd64] only`},
		"a slip of the finger":                {"zsf", "v1.13.9", "amd64", `system extension "zsf" does not exist, did you mean "zfs" (in every release)?`},
		"a slip of the finger in a newer one": {"xee", "v1.13.9", "amd64", `system extension "xee" does not exist, did you mean "xe" (since v1.12.0)?`},
		"nothing near":                        {"siderolabs/frobnicator", "v1.13.9", "amd64", `system extension "siderolabs/frobnicator" does not exist: 'minos image extensions' lists those that do`},
		"a version that is none":              {"drbd", "newest", "amd64", `talos version "newest": Invalid character(s) found in major number "0newest"`},
		"a release from before the catalogue": {"drbd", "v1.5.0", "amd64", ""},
	}
	c := load(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := c.Check(test.name, test.version, test.arch); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	tests := map[string]struct{ names, want []string }{
		"nothing":       {[]string{"drbd", "zfs"}, nil},
		"one of two":    {[]string{"siderolabs/nvidia-container-toolkit-lts"}, []string{"nvidia-container-toolkit-lts needs one of nvidia-open-gpu-kernel-modules-lts, nonfree-kmod-nvidia-lts in the same image"}},
		"the other one": {[]string{"nvidia-container-toolkit-lts", "nonfree-kmod-nvidia-lts"}, nil},
		"another line":  {[]string{"nvidia-container-toolkit-lts", "nonfree-kmod-nvidia-production"}, []string{"nvidia-container-toolkit-lts needs one of nvidia-open-gpu-kernel-modules-lts, nonfree-kmod-nvidia-lts in the same image"}},
		"all of them":   {[]string{"nvidia-fabricmanager-production"}, []string{"nvidia-fabricmanager-production needs nvidia-container-toolkit-production in the same image"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, load(t).Missing(test.names)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCatalogueIsSound holds the data to what the code relies on.
func TestCatalogueIsSound(t *testing.T) {
	c := load(t)
	var names []string
	for _, e := range c.Extensions {
		names = append(names, e.Name)
		for _, other := range append(append([]string{}, e.Requires...), e.RequiresOneOf...) {
			if _, ok := c.Find(other); !ok {
				t.Errorf("%s needs %s, which is not in the catalogue", e.Name, other)
			}
		}
		if _, ok := c.Find(e.ReplacedBy); e.ReplacedBy != "" && !ok {
			t.Errorf("%s was replaced by %s, which is not in the catalogue", e.Name, e.ReplacedBy)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("the extensions are not sorted, or one is there twice")
	}
}

// TestNamesPerRelease holds the catalogue to the number of extensions of each release line.
func TestNamesPerRelease(t *testing.T) {
	want := map[api.TalosVersion]int{"v1.7.7": 39, "v1.8.4": 46, "v1.9.6": 51, "v1.10.9": 62, "v1.11.6": 67, "v1.12.11": 78, "v1.13.9": 83, "v1.14.0-rc.1": 86}
	c := load(t)
	for version, n := range want {
		names, err := c.Names(version)
		if err != nil || len(names) != n {
			t.Errorf("%s has %d extensions, want %d (%v)", version, len(names), n, err)
		}
		if !c.Knows(version) {
			t.Errorf("%s is not known", version)
		}
	}
	if c.Knows("v1.14.1") || c.Knows("v1.6.0") {
		t.Error("a release outside of the catalogue is known")
	}
}
