// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/imager/quirks"
	"github.com/siderolabs/talos/pkg/machinery/platforms"
	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
)

// A Profile is what Talos's imager builds an image from. It has the fields of the imager's own type, whose package brings
// the clients of several clouds along.
type Profile struct {
	BaseProfileName string                `yaml:"baseProfileName,omitempty"`
	Arch            string                `yaml:"arch"`
	Platform        string                `yaml:"platform"`
	SecureBoot      bool                  `yaml:"secureboot"`
	Version         string                `yaml:"version"`
	Customization   *ProfileCustomization `yaml:"customization,omitempty"`
	Input           *ProfileInput         `yaml:"input,omitempty"`
	Output          ProfileOutput         `yaml:"output"`

	role, schematic string // for the heading
}

// ProfileCustomization is what is changed in the image.
type ProfileCustomization struct {
	ExtraKernelArgs []string `yaml:"extraKernelArgs,omitempty"`
}

// ProfileInput is what the image is made of, beside what is in the imager.
type ProfileInput struct {
	BaseInstaller    *ProfileContainer  `yaml:"baseInstaller,omitempty"`
	SystemExtensions []ProfileContainer `yaml:"systemExtensions,omitempty"`
}

// ProfileContainer is a container image.
type ProfileContainer struct {
	ImageRef string `yaml:"imageRef"`
}

// ProfileOutput is what is built.
type ProfileOutput struct {
	Kind      string `yaml:"kind"`
	OutFormat string `yaml:"outFormat"`
}

// NewProfile returns the profile with which the imager builds a kind of file of a resolved role's image. Of image, the
// release, the platform, the architecture and SecureBoot count.
func NewProfile(role *api.NodeRole, image Image, kind Kind, digests Digests) (*Profile, error) {
	image, err := For(role, image)
	if err != nil {
		return nil, err
	}
	platform, err := image.checkMachine()
	if err != nil {
		return nil, err
	}
	if err := image.builds(platform, kind); err != nil {
		return nil, err
	}
	profile := &Profile{
		Arch: string(image.Architecture), Platform: image.Platform, SecureBoot: image.SecureBoot, Version: string(image.Version),
		Output: outputOf(platform, kind), role: role.Name, schematic: image.Schematic,
	}
	if kind == Disk {
		// The size and the format of a platform's disk are the business of the imager of that very release.
		profile.BaseProfileName = image.Platform
		if image.SecureBoot {
			profile.BaseProfileName = "secureboot-" + image.Platform
		}
	}
	if arguments := unique(role.Spec.KernelArgs); len(arguments) > 0 && takesArguments(image, kind) {
		profile.Customization = &ProfileCustomization{ExtraKernelArgs: arguments}
	}
	profile.Input, err = inputOf(role, image, kind, digests)
	return profile, err
}

// builds says whether the imager can build a kind of file.
func (i Image) builds(platform platforms.Platform, kind Kind) error {
	switch kind {
	case Installer:
		return nil
	case PXE:
		return errors.New("a PXE script is served and not built: build kernel, initramfs and cmdline")
	default:
		return i.offers(platform, kind)
	}
}

// outputOf is a kind of file in the words of the imager.
func outputOf(platform platforms.Platform, kind Kind) ProfileOutput {
	if kind != Disk {
		return ProfileOutput{Kind: string(kind), OutFormat: "raw"}
	}
	format := "raw" // a disk in the format of the platform, as it is
	if _, packed, ok := strings.Cut(platform.DiskImageSuffix, "."); ok {
		format = "." + packed
	}
	return ProfileOutput{Kind: "image", OutFormat: format}
}

// takesArguments says whether kernel arguments go into a kind of file, as the factory has it: an installer carries a
// command line since it carries a UKI.
func takesArguments(image Image, kind Kind) bool {
	switch kind {
	case Kernel, Initramfs:
		return false
	case Installer, UKI:
		return image.SecureBoot || quirks.New(string(image.Version)).SupportsUnifiedInstaller()
	default:
		return true
	}
}

// inputOf is what goes into a kind of file.
func inputOf(role *api.NodeRole, image Image, kind Kind, digests Digests) (*ProfileInput, error) {
	input := &ProfileInput{}
	if kind == Installer {
		name := "installer"
		if quirks.New(string(image.Version)).SupportsUnifiedInstaller() {
			name = "installer-base" // from Talos 1.14 on the other one is no longer published
		}
		input.BaseInstaller = &ProfileContainer{ImageRef: fmt.Sprintf("ghcr.io/siderolabs/%s:%s", name, image.Version)}
	}
	if kind != Kernel && kind != Cmdline {
		for _, name := range Extensions(role) {
			if digests == nil {
				return nil, digestsError("the extensions of an imager profile are pinned by digest, and no digests are given")
			}
			reference, err := digests.find(name, image.Version)
			if err != nil {
				return nil, err
			}
			input.SystemExtensions = append(input.SystemExtensions, ProfileContainer{ImageRef: reference})
		}
	}
	if input.BaseInstaller == nil && input.SystemExtensions == nil {
		return nil, nil // left out of the text
	}
	return input, nil
}

// Text returns the profile as the imager reads it, with a heading that says how.
func (p *Profile) Text() ([]byte, error) {
	var b bytes.Buffer
	rights := ""
	if release, err := parseVersion(api.TalosVersion(p.Version)); err == nil && release.Minor < 13 {
		rights = " --privileged -v /dev:/dev" // since 1.13 it needs none
	}
	keys := ""
	if p.SecureBoot {
		keys = ` -v "$PWD/secureboot:/secureboot"`
	}
	fmt.Fprintf(&b, "# The image of role %q for Talos's imager, made by 'minos image profile'. Its schematic is\n# %s. To build it:\n", p.role, p.schematic)
	fmt.Fprintf(&b, "#   docker run --rm -i%s%s -v \"$PWD:/out\" ghcr.io/siderolabs/imager:%s - < profile.yaml\n", rights, keys, p.Version)
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), encoder.Close()
}
