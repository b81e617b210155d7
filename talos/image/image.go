// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/siderolabs/talos/pkg/machinery/imager/quirks"
	"github.com/siderolabs/talos/pkg/machinery/platforms"

	api "minos.dev/minos/api/v1alpha1"
)

// An Image is one image: a schematic in a release, for a platform and an architecture, and where it is asked for.
type Image struct {
	// Factory is the address of the Image Factory; empty is the public one.
	Factory string
	// Installer is the repository of installer images, without schematic and version; empty is that of the factory.
	Installer string
	// Schematic is the identity of the schematic.
	Schematic string
	// Version is the Talos release.
	Version api.TalosVersion
	// Platform is the platform by Talos's name for it, for example metal.
	Platform string
	// Architecture is that of the machines. An installer has none: it is for all of them.
	Architecture api.Architecture
	// SecureBoot says that the image is signed, for machines that start nothing else.
	SecureBoot bool
}

// For returns the image of a resolved role: where and for what it is wanted, with the schematic of the role. An image that
// cannot be made, because an extension is not there in the release or for the architecture, is an error. Without an
// architecture, the role must work on one.
func For(role *api.NodeRole, wanted Image) (Image, error) {
	whole, err := Schematic(role, schematic.Schematic{})
	if err != nil {
		return Image{}, err
	}
	if wanted.Architecture == "" {
		_, _, err = Architectures(role, wanted.Version)
	} else {
		err = Check(role, wanted.Version, wanted.Architecture)
	}
	if err != nil {
		return Image{}, err
	}
	wanted.Schematic, err = whole.ID()
	return wanted, err
}

// URL returns the address of one file of the image.
func (i Image) URL(kind Kind) (string, error) {
	platform, err := i.checkMachine()
	if err != nil {
		return "", err
	}
	if err := i.offers(platform, kind); err != nil {
		return "", err
	}
	factory, err := parseFactory(i.Factory)
	if err != nil {
		return "", err
	}
	path := assets[kind].path(platform, string(i.Architecture), i.SecureBoot)
	if kind == PXE {
		return pxeOf(factory).JoinPath("pxe", i.Schematic, string(i.Version), path).String(), nil
	}
	return factory.JoinPath("image", i.Schematic, string(i.Version), path).String(), nil
}

// InstallerImage returns the reference of the container image that installs and upgrades machines. It is one for all
// architectures.
func (i Image) InstallerImage() (string, error) {
	if _, err := i.check(); err != nil {
		return "", err
	}
	repository, err := i.repository()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%s:%s", repository, i.Schematic, i.Version), nil
}

// repository is where installer images are.
func (i Image) repository() (string, error) {
	if i.Installer != "" {
		return checkRepository(i.Installer)
	}
	factory, err := parseFactory(i.Factory)
	if err != nil {
		return "", err
	}
	name := "installer"
	// From here on the installer brings the kernel's arguments, which name the platform: one of another platform would
	// upgrade a machine into not finding its configuration.
	if quirks.New(string(i.Version)).SupportsUnifiedInstaller() {
		name = i.Platform + "-installer"
	}
	if i.SecureBoot {
		name += "-secureboot"
	}
	// A registry is always at the root of its host, whatever the path of the factory's pages: so the factory names it too.
	return factory.Host + "/" + name, nil
}

// identity is the form of a schematic's identity.
var identity = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkMachine holds the image to what Talos says of its platform and architecture, and returns the platform.
func (i Image) checkMachine() (platforms.Platform, error) {
	platform, err := i.check()
	switch has := architecturesOf(platform); {
	case err != nil:
	case !slices.Contains(everywhere, i.Architecture):
		err = fmt.Errorf("there is no architecture %q: Talos is built for %s", i.Architecture, list(everywhere, "and"))
	case !slices.Contains(has, i.Architecture):
		err = fmt.Errorf("platform %s has no image for %s: it has %s only", platform.Name, i.Architecture, list(has, "and"))
	}
	return platform, err
}

// check holds the image to what Talos says of its platform, and returns the platform.
func (i Image) check() (platforms.Platform, error) {
	platform, err := findPlatform(i.Platform)
	if err != nil {
		return platform, err
	}
	release, err := parseVersion(i.Version)
	if err != nil {
		return platform, err
	}
	switch {
	case !identity.MatchString(i.Schematic):
		err = fmt.Errorf("schematic %q is not an identity of 64 hexadecimal digits", i.Schematic)
	case release.LT(platform.MinVersion):
		err = fmt.Errorf("platform %s exists since Talos v%s, and not in %s: choose a newer version", platform.Name, platform.MinVersion, i.Version)
	case i.SecureBoot && !platform.SecureBootSupported:
		err = fmt.Errorf("platform %s has no image for SecureBoot: %s have", platform.Name, list(secureBootPlatforms(), "and"))
	}
	return platform, err
}

// offers says whether the platform has a kind of file.
func (i Image) offers(platform platforms.Platform, kind Kind) error {
	asset, ok := assets[kind]
	if !ok {
		return fmt.Errorf("there is no kind %q of image: the known ones are %s", kind, list(Kinds(), "and"))
	}
	if asset.method != "" && !slices.Contains(platform.BootMethods, asset.method) {
		return fmt.Errorf("platform %s has no %s: ask for %s", platform.Name, asset.name, list(bootKinds(platform), "or"))
	}
	if i.SecureBoot && asset.unsigned {
		return fmt.Errorf("a machine with SecureBoot does not start a bare %s: ask for uki, which holds it and is signed", asset.name)
	}
	return nil
}

// checkRepository holds the name of a repository to its form.
func checkRepository(name string) (string, error) {
	name = strings.TrimSuffix(name, "/")
	last := name[strings.LastIndex(name, "/")+1:]
	switch {
	case strings.Contains(name, "://"):
		return "", fmt.Errorf("installer %q is the name of a repository: leave out what stands before the host", name)
	case !strings.Contains(name, "/") || strings.ContainsAny(name, " \t\n"):
		return "", fmt.Errorf("installer %q is not a repository such as registry.example.com/talos/installer", name)
	case strings.ContainsAny(last, ":@"):
		return "", fmt.Errorf("installer %q has a version: leave it out, schematic and version are added", name)
	}
	return name, nil
}
