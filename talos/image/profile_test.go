// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

// digests returns those of the tests.
func digests(t *testing.T) image.Digests {
	t.Helper()
	d, err := image.ParseDigests(read(t, "image-digests"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pins is references of extensions as a profile has them.
func pins(digests image.Digests, names ...string) []image.ProfileContainer {
	var containers []image.ProfileContainer
	for _, name := range names {
		containers = append(containers, image.ProfileContainer{ImageRef: digests[name]})
	}
	return containers
}

func TestProfile(t *testing.T) {
	refs := digests(t)
	with := func(r *api.NodeRole) *api.NodeRole {
		r.Spec.KernelArgs = []string{"quiet"}
		return r
	}
	all := &image.ProfileInput{SystemExtensions: pins(refs, "drbd", "spin", "zfs")}
	upon := func(name string) *image.ProfileInput {
		return &image.ProfileInput{BaseInstaller: &image.ProfileContainer{ImageRef: name}}
	}
	tests := map[string]struct {
		role *api.NodeRole
		kind image.Kind
		on   image.Image
		want image.Profile
	}{
		"disk": {builtin(t, "compute"), image.Disk, image.Image{}, image.Profile{
			BaseProfileName: "metal", Input: all, Output: image.ProfileOutput{Kind: "image", OutFormat: ".zst"},
		}},
		"disk, SecureBoot": {builtin(t, "compute"), image.Disk, image.Image{SecureBoot: true}, image.Profile{
			BaseProfileName: "secureboot-metal", SecureBoot: true, Input: all, Output: image.ProfileOutput{Kind: "image", OutFormat: ".zst"},
		}},
		"disk of Google": {role(), image.Disk, image.Image{Platform: "gcp"}, image.Profile{
			BaseProfileName: "gcp", Platform: "gcp", Output: image.ProfileOutput{Kind: "image", OutFormat: ".tar.gz"},
		}},
		"disk of VMware": {role(), image.Disk, image.Image{Platform: "vmware"}, image.Profile{
			BaseProfileName: "vmware", Platform: "vmware", Output: image.ProfileOutput{Kind: "image", OutFormat: "raw"},
		}},
		"ISO": {with(role()), image.ISO, image.Image{Architecture: "arm64"}, image.Profile{
			Arch: "arm64", Customization: &image.ProfileCustomization{ExtraKernelArgs: []string{"quiet"}},
			Output: image.ProfileOutput{Kind: "iso", OutFormat: "raw"},
		}},
		"initramfs takes extensions and no arguments": {with(builtin(t, "compute")), image.Initramfs, image.Image{}, image.Profile{
			Input: all, Output: image.ProfileOutput{Kind: "initramfs", OutFormat: "raw"},
		}},
		"command line takes arguments and no extensions": {with(builtin(t, "compute")), image.Cmdline, image.Image{}, image.Profile{
			Customization: &image.ProfileCustomization{ExtraKernelArgs: []string{"quiet"}},
			Output:        image.ProfileOutput{Kind: "cmdline", OutFormat: "raw"},
		}},
		"kernel takes nothing": {with(builtin(t, "compute")), image.Kernel, image.Image{}, image.Profile{
			Output: image.ProfileOutput{Kind: "kernel", OutFormat: "raw"},
		}},
		"installer": {with(role()), image.Installer, image.Image{}, image.Profile{
			Customization: &image.ProfileCustomization{ExtraKernelArgs: []string{"quiet"}},
			Input:         upon("ghcr.io/siderolabs/installer-base:v1.13.9"), Output: image.ProfileOutput{Kind: "installer", OutFormat: "raw"},
		}},
		"installer of before": {with(role()), image.Installer, image.Image{Version: "v1.9.6"}, image.Profile{
			Version: "v1.9.6", Input: upon("ghcr.io/siderolabs/installer:v1.9.6"), Output: image.ProfileOutput{Kind: "installer", OutFormat: "raw"},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			on := metal(func(i *image.Image) {
				i.SecureBoot = test.on.SecureBoot
				set(&i.Platform, test.on.Platform)
				set(&i.Version, test.on.Version)
				set(&i.Architecture, test.on.Architecture)
			})
			got, err := image.NewProfile(test.role, on, test.kind, refs)
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			set(&want.Arch, want.Arch, "amd64")
			set(&want.Platform, want.Platform, "metal")
			set(&want.Version, want.Version, "v1.13.9")
			if diff := cmp.Diff(want, *got, cmp.FilterPath(func(p cmp.Path) bool { return strings.HasPrefix(p.String(), "role") || p.String() == "schematic" }, cmp.Ignore()), cmp.AllowUnexported(image.Profile{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// set gives a value the first that is not empty; it stays as it is if all are.
func set[T ~string](value *T, candidates ...T) {
	for _, candidate := range candidates {
		if candidate != "" {
			*value = candidate
			return
		}
	}
}

func TestProfileText(t *testing.T) {
	profile, err := image.NewProfile(builtin(t, "gateway"), metal(nil), image.Installer, digests(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := profile.Text()
	if err != nil {
		t.Fatal(err)
	}
	want := `# The image of role "gateway" for Talos's imager, made by 'minos image profile'. Its schematic is
# 18bf9e47e8c9ebc2f71aace6d5aa120a0e804fc232d660c9c0c34ff2e0c8d845. To build it:
#   docker run --rm -i -v "$PWD:/out" ghcr.io/siderolabs/imager:v1.13.9 - < profile.yaml
arch: amd64
platform: metal
secureboot: false
version: v1.13.9
input:
  baseInstaller:
    imageRef: ghcr.io/siderolabs/installer-base:v1.13.9
  systemExtensions:
    - imageRef: ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:0000000000000000000000000000000000000000000000000000000000000003
    - imageRef: ghcr.io/siderolabs/spin:v0.25.0@sha256:0000000000000000000000000000000000000000000000000000000000000005
    - imageRef: ghcr.io/siderolabs/tailscale:1.102.2@sha256:0000000000000000000000000000000000000000000000000000000000000006
    - imageRef: ghcr.io/siderolabs/zfs:2.4.1-v1.13.9@sha256:0000000000000000000000000000000000000000000000000000000000000007
output:
  kind: installer
  outFormat: raw
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestProfileHeading holds the command in the heading to the rights and keys that a build needs.
func TestProfileHeading(t *testing.T) {
	on := metal(func(i *image.Image) { i.Version, i.SecureBoot = "v1.12.7", true })
	profile, err := image.NewProfile(role(), on, image.ISO, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := profile.Text()
	want := `#   docker run --rm -i --privileged -v /dev:/dev -v "$PWD/secureboot:/secureboot" -v "$PWD:/out" ghcr.io/siderolabs/imager:v1.12.7 - < profile.yaml`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestProfileRefuses(t *testing.T) {
	refs := digests(t)
	tests := map[string]struct {
		role    *api.NodeRole
		kind    image.Kind
		on      image.Image
		digests image.Digests
		want    string
	}{
		"without digests":         {builtin(t, "compute"), image.Disk, metal(nil), nil, "the extensions of an imager profile are pinned by digest, and no digests are given"},
		"digests of another time": {builtin(t, "compute"), image.Disk, metal(func(i *image.Image) { i.Version = "v1.13.8" }), refs, "the digests are of Talos v1.13.9 and not of v1.13.8, and drbd holds kernel modules, which fit one release only"},
		"not in the digests":      {role("gvisor"), image.Disk, metal(nil), refs, "the digests have no gvisor: they are not those of Talos v1.13.9"},
		"a script":                {role(), image.PXE, metal(nil), refs, "a PXE script is served and not built: build kernel, initramfs and cmdline"},
		"no such disk":            {role(), image.Disk, metal(func(i *image.Image) { i.Platform = "vultr" }), refs, "platform vultr has no disk image: ask for iso or pxe"},
		"no such extension":       {role("zsf"), image.Disk, metal(nil), refs, `role "edge": system extension "zsf" does not exist, did you mean "zfs" (in every release)?`},
		"a secret":                {withArguments("token=x"), image.Disk, metal(nil), refs, `role "edge": kernel argument "token" seems to hold a secret, by its name: an image and its schematic are public, so give it by the machine configuration`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := image.NewProfile(test.role, test.on, test.kind, test.digests)
			if message(err) != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	_, err := image.NewProfile(role("drbd"), metal(nil), image.Disk, nil)
	if _, ok := errors.AsType[*image.DigestsError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestParseDigests(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	tests := map[string]struct {
		text    string
		want    image.Digests
		wantErr string
	}{
		"a line": {"ghcr.io/siderolabs/drbd:9.3.2-v1.13.9" + digest + "\n", image.Digests{"drbd": "ghcr.io/siderolabs/drbd:9.3.2-v1.13.9" + digest}, ""},
		"of a mirror with a port, among others": {
			"\nghcr.io/siderolabs/installer:v1.13.9\nmirror:5000/talos/drbd:9.3.2-v1.13.9" + digest + "\r\n",
			image.Digests{"drbd": "mirror:5000/talos/drbd:9.3.2-v1.13.9" + digest}, "",
		},
		"something else": {"ghcr.io/siderolabs/drbd:1\n<html>\n", nil, "line 2 of the digests is not a reference such as ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:…"},
		"nothing pinned": {"ghcr.io/siderolabs/drbd:1\n", nil, "the digests hold no reference with a digest, such as ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:…"},
		"nothing":        {"", nil, "the digests hold no reference with a digest, such as ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := image.ParseDigests(test.text)
			if diff := cmp.Diff(test.want, got); diff != "" || message(err) != test.wantErr {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
