// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// diskFile is the name of a disk image: platform, architecture, signed or not, and how it is packed.
var diskFile = regexp.MustCompile(`^([A-Za-z][A-Za-z-]*)-(amd64|arm64)(-secureboot)?\.[a-z0-9.]+$`)

// ParseDisk reads the address of a disk image, as [Image.URL] writes it. It says nothing about whether the file is there.
func ParseDisk(address string) (Image, error) {
	read, err := url.Parse(address)
	if err != nil {
		return Image{}, fmt.Errorf("%q is not an address: %w", address, err)
	}
	rest, file := path.Split(read.Path)
	rest, version := path.Split(strings.TrimSuffix(rest, "/"))
	rest, schematic := path.Split(strings.TrimSuffix(rest, "/"))
	name := diskFile.FindStringSubmatch(file)
	if name == nil || strings.HasSuffix(file, ".iso") || !strings.HasSuffix(rest, "/image/") {
		return Image{}, fmt.Errorf("%s is not a disk image of a factory: that ends with image/<schematic>/<version>/<platform>-<architecture>.raw.xz", address)
	}
	read.Path = strings.TrimSuffix(rest, "/image/")
	found := Image{
		Factory: read.String(), Schematic: schematic, Version: api.TalosVersion(version),
		Platform: name[1], Architecture: api.Architecture(name[2]), SecureBoot: name[3] != "",
	}
	if _, err := found.checkMachine(); err != nil {
		return Image{}, fmt.Errorf("%s: %w", address, err)
	}
	return found, nil
}
