// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

// TestParseDisk reads back what every platform's disk image is called.
func TestParseDisk(t *testing.T) {
	for _, platform := range image.Platforms() {
		for _, signed := range []bool{false, true} {
			want := metal(func(i *image.Image) {
				i.Factory, i.Platform, i.SecureBoot, i.Version = "https://factory.example.com/deep", platform, signed, "v1.14.1"
			})
			address, err := want.URL(image.Disk)
			if err != nil {
				continue // the platform has no such file, and that is told elsewhere
			}
			got, err := image.ParseDisk(address)
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", address, diff)
			}
		}
	}
}

// TestParseDiskRefuses is what is no disk image of a factory.
func TestParseDiskRefuses(t *testing.T) {
	here := image.PublicFactory + "/image/" + compute + "/v1.13.9/"
	for address, want := range map[string]string{
		"docker://quay.io/containerdisks/fedora:42": "is not a disk image of a factory",
		here + "metal-amd64.iso":                    "is not a disk image of a factory",
		here + "kernel-amd64":                       "is not a disk image of a factory",
		here + "warp-amd64.raw.xz":                  `platform "warp"`,
		strings.Replace(here, "v1.13.9", "latest", 1) + "metal-amd64.raw.zst": "latest",
		strings.Replace(here, compute, "0123", 1) + "metal-amd64.raw.zst":     "is not an identity",
		"https://exa mple.com/": "is not an address",
	} {
		if got, err := image.ParseDisk(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", address, got, err, want)
		}
	}
	if _, err := image.ParseDisk(here + "metal-" + string(api.AMD64) + ".raw.zst"); err != nil {
		t.Error(err)
	}
}
