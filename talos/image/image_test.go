// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"fmt"
	"strings"
	"testing"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

const (
	compute = "5b3bba0ae2e83349e7ce3892db4dd1f6447e38fd4da3c428516616f9866a7f86"
	release = api.TalosVersion("v1.13.9")
)

// metal is the image of most tests, with a change.
func metal(change func(*image.Image)) image.Image {
	i := image.Image{Schematic: compute, Version: release, Platform: "metal", Architecture: api.AMD64}
	if change != nil {
		change(&i)
	}
	return i
}

func TestURL(t *testing.T) {
	here := image.PublicFactory + "/image/" + compute + "/v1.13.9/"
	signed := func(i *image.Image) { i.SecureBoot = true }
	at := func(platform string, arch api.Architecture) func(*image.Image) {
		return func(i *image.Image) { i.Platform, i.Architecture = platform, arch }
	}
	factory := func(address string) func(*image.Image) { return func(i *image.Image) { i.Factory = address } }
	tests := map[string]struct {
		kind   image.Kind
		change func(*image.Image)
		want   string
	}{
		"disk":                      {image.Disk, nil, here + "metal-amd64.raw.zst"},
		"disk, SecureBoot":          {image.Disk, signed, here + "metal-amd64-secureboot.raw.zst"},
		"disk, Arm":                 {image.Disk, at("metal", "arm64"), here + "metal-arm64.raw.zst"},
		"disk of AWS":               {image.Disk, at("aws", "arm64"), here + "aws-arm64.raw.xz"},
		"disk of Azure":             {image.Disk, at("azure", "amd64"), here + "azure-amd64.vhd.xz"},
		"disk of DigitalOcean":      {image.Disk, at("digital-ocean", "amd64"), here + "digital-ocean-amd64.raw.gz"},
		"disk of Oracle":            {image.Disk, at("oracle", "arm64"), here + "oracle-arm64.qcow2"},
		"disk of VMware":            {image.Disk, at("vmware", "amd64"), here + "vmware-amd64.ova"},
		"disk of Google":            {image.Disk, at("gcp", "amd64"), here + "gcp-amd64.raw.tar.gz"},
		"disk of Hetzner, Arm":      {image.Disk, at("hcloud", "arm64"), here + "hcloud-arm64.raw.xz"},
		"ISO":                       {image.ISO, nil, here + "metal-amd64.iso"},
		"ISO, SecureBoot":           {image.ISO, signed, here + "metal-amd64-secureboot.iso"},
		"kernel":                    {image.Kernel, nil, here + "kernel-amd64"},
		"initramfs":                 {image.Initramfs, nil, here + "initramfs-amd64.xz"},
		"command line":              {image.Cmdline, nil, here + "cmdline-metal-amd64"},
		"command line, SecureBoot":  {image.Cmdline, signed, here + "cmdline-metal-amd64-secureboot"},
		"UKI":                       {image.UKI, nil, here + "metal-amd64-uki.efi"},
		"UKI, SecureBoot":           {image.UKI, signed, here + "metal-amd64-secureboot-uki.efi"},
		"PXE":                       {image.PXE, nil, "https://pxe.factory.talos.dev/pxe/" + compute + "/v1.13.9/metal-amd64"},
		"PXE, SecureBoot":           {image.PXE, signed, "https://pxe.factory.talos.dev/pxe/" + compute + "/v1.13.9/metal-amd64-secureboot"},
		"PXE of Equinix":            {image.PXE, at("equinixMetal", "arm64"), "https://pxe.factory.talos.dev/pxe/" + compute + "/v1.13.9/equinixMetal-arm64"},
		"the public one by address": {image.PXE, factory("https://factory.talos.dev/"), "https://pxe.factory.talos.dev/pxe/" + compute + "/v1.13.9/metal-amd64"},
		"a factory of one's own":    {image.Disk, factory("https://factory.example.com"), "https://factory.example.com/image/" + compute + "/v1.13.9/metal-amd64.raw.zst"},
		"below a path, with a port": {image.Disk, factory("https://lab.example.com:8443/talos/"), "https://lab.example.com:8443/talos/image/" + compute + "/v1.13.9/metal-amd64.raw.zst"},
		"its PXE":                   {image.PXE, factory("http://lab.example.com/talos"), "http://lab.example.com/talos/pxe/" + compute + "/v1.13.9/metal-amd64"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := metal(test.change).URL(test.kind); got != test.want || err != nil {
				t.Errorf("got  %s (%v)\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestURLRefuses(t *testing.T) {
	tests := map[string]struct {
		kind   image.Kind
		change func(*image.Image)
		want   string
	}{
		"a slip in the platform":       {image.Disk, func(i *image.Image) { i.Platform = "metl" }, `there is no platform "metl", did you mean "metal"?`},
		"a platform by another name":   {image.Disk, func(i *image.Image) { i.Platform = "proxmox" }, `there is no platform "proxmox": its machines run the image of "nocloud"`},
		"a platform that is none":      {image.Disk, func(i *image.Image) { i.Platform = "toaster" }, `there is no platform "toaster": the known ones are metal, akamai, alibabacloud, aws, azure, cloudstack, digital-ocean, equinixMetal, exoscale, gcp, hcloud, nocloud, opennebula, openstack, oracle, scaleway, upcloud, vmware and vultr`},
		"a platform before its day":    {image.Disk, func(i *image.Image) { i.Platform = "alibabacloud" }, `platform alibabacloud exists since Talos v1.14.0-beta.2, and not in v1.13.9: choose a newer version`},
		"no Arm there":                 {image.ISO, func(i *image.Image) { i.Platform, i.Architecture = "vultr", "arm64" }, `platform vultr has no image for arm64: it has amd64 only`},
		"no such processor":            {image.Disk, func(i *image.Image) { i.Architecture = "riscv64" }, `there is no architecture "riscv64": Talos is built for amd64 and arm64`},
		"no SecureBoot there":          {image.Disk, func(i *image.Image) { i.Platform, i.SecureBoot = "aws", true }, `platform aws has no image for SecureBoot: metal, azure, cloudstack and nocloud have`},
		"no disk":                      {image.Disk, func(i *image.Image) { i.Platform = "equinixMetal" }, `platform equinixMetal has no disk image: ask for pxe`},
		"no disk, two ways out":        {image.Disk, func(i *image.Image) { i.Platform = "vultr" }, `platform vultr has no disk image: ask for iso or pxe`},
		"no ISO":                       {image.ISO, func(i *image.Image) { i.Platform = "aws" }, `platform aws has no ISO image: ask for disk`},
		"no PXE":                       {image.PXE, func(i *image.Image) { i.Platform = "hcloud" }, `platform hcloud has no PXE script: ask for disk`},
		"a bare kernel for SecureBoot": {image.Kernel, func(i *image.Image) { i.SecureBoot = true }, `a machine with SecureBoot does not start a bare kernel: ask for uki, which holds it and is signed`},
		"an installer has no address":  {image.Installer, nil, `there is no kind "installer" of image: the known ones are disk, iso, pxe, kernel, initramfs, cmdline and uki`},
		"half a version":               {image.Disk, func(i *image.Image) { i.Version = "v1.13" }, `talos version "v1.13" is not a full version such as v1.13.9`},
		"half a schematic":             {image.Disk, func(i *image.Image) { i.Schematic = "5b3bba" }, `schematic "5b3bba" is not an identity of 64 hexadecimal digits`},
		"a factory that is none":       {image.Disk, func(i *image.Image) { i.Factory = "factory.example.com" }, `factory "factory.example.com" is not an address such as https://factory.talos.dev`},
		"a factory with a question":    {image.Disk, func(i *image.Image) { i.Factory = "https://factory.example.com?a=b" }, `factory "https://factory.example.com?a=b" has something after its path: leave that out`},
		"a factory with a password":    {image.Disk, func(i *image.Image) { i.Factory = "https://me:hunter2@factory.example.com" }, `the address of the factory holds a user name: leave it out, because references to images are public`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := metal(test.change).URL(test.kind)
			if message(err) != test.want || got != "" {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestInstallerImage(t *testing.T) {
	tests := map[string]struct {
		change func(*image.Image)
		want   string
	}{
		"metal":                     {nil, "factory.talos.dev/metal-installer/" + compute + ":v1.13.9"},
		"without an architecture":   {func(i *image.Image) { i.Architecture = "" }, "factory.talos.dev/metal-installer/" + compute + ":v1.13.9"},
		"SecureBoot":                {func(i *image.Image) { i.SecureBoot = true }, "factory.talos.dev/metal-installer-secureboot/" + compute + ":v1.13.9"},
		"of a platform":             {func(i *image.Image) { i.Platform = "openstack" }, "factory.talos.dev/openstack-installer/" + compute + ":v1.13.9"},
		"of a platform without one": {func(i *image.Image) { i.Platform = "equinixMetal" }, "factory.talos.dev/equinixMetal-installer/" + compute + ":v1.13.9"},
		"the first with a platform": {func(i *image.Image) { i.Version = "v1.10.0" }, "factory.talos.dev/metal-installer/" + compute + ":v1.10.0"},
		"a beta of that":            {func(i *image.Image) { i.Version = "v1.10.0-beta.0" }, "factory.talos.dev/metal-installer/" + compute + ":v1.10.0-beta.0"},
		"the last without":          {func(i *image.Image) { i.Version, i.Platform = "v1.9.6", "aws" }, "factory.talos.dev/installer/" + compute + ":v1.9.6"},
		"SecureBoot before":         {func(i *image.Image) { i.Version, i.SecureBoot = "v1.9.6", true }, "factory.talos.dev/installer-secureboot/" + compute + ":v1.9.6"},
		"a factory of one's own":    {func(i *image.Image) { i.Factory = "https://lab.example.com:8443/talos" }, "lab.example.com:8443/metal-installer/" + compute + ":v1.13.9"},
		"a repository of one's own": {func(i *image.Image) { i.Installer = "registry.example.com:5000/talos/installer/" }, "registry.example.com:5000/talos/installer/" + compute + ":v1.13.9"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := metal(test.change).InstallerImage(); got != test.want || err != nil {
				t.Errorf("got  %s (%v)\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestInstallerImageRefuses(t *testing.T) {
	tests := map[string]struct{ installer, want string }{
		"an address":     {"https://registry.example.com/talos", `installer "https://registry.example.com/talos" is the name of a repository: leave out what stands before the host`},
		"a version":      {"registry.example.com/talos:v1", `installer "registry.example.com/talos:v1" has a version: leave it out, schematic and version are added`},
		"a host alone":   {"registry.example.com", `installer "registry.example.com" is not a repository such as registry.example.com/talos/installer`},
		"several words":  {"registry.example.com/a b", `installer "registry.example.com/a b" is not a repository such as registry.example.com/talos/installer`},
		"nothing is set": {"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := metal(func(i *image.Image) { i.Installer = test.installer }).InstallerImage()
			if message(err) != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestEveryPlatform asks for something of every platform that Talos knows, so that a new one is looked at.
func TestEveryPlatform(t *testing.T) {
	for _, name := range image.Platforms() {
		i := metal(func(i *image.Image) { i.Platform, i.Version = name, "v1.14.1" })
		got, err := i.InstallerImage()
		if want := fmt.Sprintf("factory.talos.dev/%s-installer/%s:v1.14.1", name, compute); got != want || err != nil {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
		boots := 0
		for _, kind := range []image.Kind{image.Disk, image.ISO, image.PXE} {
			address, err := i.URL(kind)
			if err == nil {
				boots++
			}
			if err == nil && !strings.Contains(address, "/"+name+"-amd64") {
				t.Errorf("%s of %s is at %s", kind, name, address)
			}
		}
		if boots == 0 {
			t.Errorf("nothing boots %s", name)
		}
	}
}

func TestForARole(t *testing.T) {
	got, err := image.For(builtin(t, "compute"), image.Image{Version: release, Platform: "metal", Architecture: "arm64"})
	if err != nil || got.Schematic != compute || got.Platform != "metal" {
		t.Errorf("got %+v (%v)", got, err)
	}
	if _, err = image.For(builtin(t, "gpu-amd"), image.Image{Version: release}); err != nil {
		t.Errorf("a role that works on one architecture has no installer: %v", err)
	}
	_, err = image.For(builtin(t, "gpu-amd"), image.Image{Version: release, Architecture: "arm64"})
	if want := `role "gpu-amd": no image for arm64: its hardware is amd64`; message(err) != want {
		t.Errorf("got %v", err)
	}
}
