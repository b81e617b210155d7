// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/platforms"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// Metal is the platform of machines that exist.
const Metal = "metal"

// otherwise is what people call a platform that Talos calls by another name, or does not have.
var otherwise = map[string]string{
	"baremetal":  "metal",
	"bare-metal": "metal",
	"equinix":    "equinixMetal",
	"google":     "gcp",
	"hetzner":    "hcloud",
	"kubevirt":   "openstack",
	"libvirt":    "nocloud",
	"linode":     "akamai",
	"proxmox":    "nocloud",
	"vsphere":    "vmware",
}

// Platforms returns the names of all platforms, metal first and the others sorted.
func Platforms() []string {
	var names []string
	for _, platform := range platforms.CloudPlatforms() {
		names = append(names, platform.Name)
	}
	slices.Sort(names)
	return append([]string{Metal}, names...)
}

// findPlatform returns a platform by its name.
func findPlatform(name string) (platforms.Platform, error) {
	for _, platform := range append(platforms.CloudPlatforms(), platforms.MetalPlatform()) {
		if platform.Name == name {
			return platform, nil
		}
	}
	if meant, ok := otherwise[name]; ok {
		return platforms.Platform{}, fmt.Errorf("there is no platform %q: its machines run the image of %q", name, meant)
	}
	if hint := nearest.Hint(name, Platforms()); hint != "" {
		return platforms.Platform{}, fmt.Errorf("there is no platform %q%s", name, hint)
	}
	return platforms.Platform{}, fmt.Errorf("there is no platform %q: the known ones are %s", name, list(Platforms(), "and"))
}

// architecturesOf returns the architectures for which a platform has images.
func architecturesOf(platform platforms.Platform) []api.Architecture {
	// Talos lists hcloud with amd64 only, because its page has not caught up with the Arm machines of Hetzner Cloud: the
	// imager's profile has both, the factory serves both, and people run both.
	if platform.Name == "hcloud" {
		return everywhere
	}
	var names []api.Architecture
	for _, name := range platform.Architectures {
		names = append(names, api.Architecture(name))
	}
	return names
}

// secureBootPlatforms are the names of the platforms with images for SecureBoot.
func secureBootPlatforms() []string {
	return slices.DeleteFunc(Platforms(), func(name string) bool {
		platform, err := findPlatform(name)
		return err != nil || !platform.SecureBootSupported
	})
}

// PlatformOf returns the platform of the images that machines of a kind of place start from. Cluster API hands a KubeVirt
// machine its configuration on a config drive, which Talos looks for on openstack and not on nocloud.
func PlatformOf(member api.Member) string {
	switch member {
	case api.MemberMetal:
		return Metal
	case api.MemberKubeVirt:
		return "openstack"
	}
	return "nocloud"
}
