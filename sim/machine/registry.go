// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"slices"
	"strings"
)

// A Registry finds the image that a reference names. Its error is what the machine says of the pull.
type Registry interface {
	Image(reference string) (Image, error)
}

// A Factory is a Registry of installers as the Image Factory names them, <host>/<platform>-installer/<schematic>:<version>:
// of the schematics that were put in, and of every version.
type Factory struct {
	// Extensions are the names of extensions by schematic.
	Extensions map[string][]string
	// Missing are references that cannot be pulled.
	Missing []string
}

// Image finds the image of a reference.
func (f *Factory) Image(reference string) (Image, error) {
	rest, version, found := strings.Cut(reference[strings.LastIndex(reference, "/")+1:], ":")
	if !found || slices.Contains(f.Missing, reference) {
		return Image{}, fmt.Errorf("pull %s: not found", reference)
	}
	names, known := f.Extensions[rest]
	if !known {
		return Image{}, fmt.Errorf("pull %s: not found: the factory has no schematic %s", reference, rest)
	}
	return Image{Reference: reference, Version: version, Schematic: rest, Extensions: names}, nil
}
