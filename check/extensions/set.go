// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"fmt"
	"path"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/talos/extension"
)

// A set is the extensions of one image.
type set struct {
	place    facts.Place
	title    string
	names    []string
	versions []api.TalosVersion // with which images are made; empty if nobody knows

	schematic *facts.SchematicFact // where they stand; nil in a profile
}

// setsOf are the extensions of all images: of schematics, and of profiles of the imager. An image without any is none.
func setsOf(all *facts.Facts) []set {
	var found []set
	for _, schematic := range all.Schematics {
		title := "the schematic"
		if schematic.Role != nil {
			title = fmt.Sprintf("role %s", schematic.Role.Name)
		}
		found = append(found, set{place: schematic.Place, title: title, names: schematic.Extensions(), versions: all.Targets(schematic), schematic: schematic})
	}
	for _, profile := range all.Profiles {
		one := set{place: all.InDocument(profile.Document, "input.systemExtensions"), title: "the profile", names: ofProfile(profile)}
		if version := profile.Content.Version; version != "" {
			one.versions = []api.TalosVersion{api.TalosVersion(version)}
		}
		found = append(found, one)
	}
	return slices.DeleteFunc(found, func(one set) bool { return len(one.names) == 0 })
}

// ofProfile are the extensions of a profile, by the names of their container images.
func ofProfile(profile *facts.ProfileFact) []string {
	var names []string
	if profile.Content.Input != nil {
		for _, one := range profile.Content.Input.SystemExtensions {
			reference, _, _ := strings.Cut(one.ImageRef, "@")
			name, _, _ := strings.Cut(path.Base(reference), ":")
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "." })
}

// catalogue is what is known of extensions. It is part of the program, and a test of its own holds it to be sound.
func catalogue() *extension.Catalogue {
	known, err := extension.Load()
	if err != nil {
		return &extension.Catalogue{}
	}
	return known
}

// aliases are the names that a factory takes for another. It is mistaken about the last one, whose present name has no dash.
var aliases = map[string]string{
	"v4l-uvc": "v4l-uvc-drivers", "usb-modem": "usb-modem-drivers", "gasket": "gasket-driver", "talos-vmtoolsd": "vmtoolsd-guest-agent",
	"xe-guest-utilities": "xen-guest-agent", "nvidia-container-toolkit": "nvidia-container-toolkit-lts",
	"nvidia-open-gpu-kernel-modules": "nvidia-open-gpu-kernel-modules-lts", "nonfree-kmod-nvidia": "nonfree-kmod-nvidia-lts",
	"i915-ucode": "i915", "amdgpu-firmware": "amdgpu", "nvidia-fabricmanager": "nvidia-fabric-manager-lts",
}

// alias is what a factory takes an old name for, and whether that is there.
func alias(name string) (string, bool) {
	meant := aliases[name]
	_, exists := catalogue().Find(meant)
	return meant, exists
}
