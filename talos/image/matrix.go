// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	api "minos.dev/minos/api/v1alpha1"
)

// A Matrix is all images of a set of roles: every role on every architecture on which it works. Written as JSON it is a
// matrix as GitHub Actions takes one.
type Matrix struct {
	// Include is the images, by role and architecture.
	Include []Build `json:"include"`

	factory string
	version api.TalosVersion
}

// A Build is one image of a matrix.
type Build struct {
	// Name tells the image from all others of the matrix.
	Name string `json:"name"`
	// Role is the role that the image is of.
	Role string `json:"role"`
	// Architecture is that of the machines.
	Architecture api.Architecture `json:"arch"`
	// Extensions are the extensions in the image, sorted.
	Extensions []string `json:"extensions"`
	// Suffix is what tells the names of the role's files from those of other roles.
	Suffix string `json:"suffix"`
	// Purpose is what the role is for.
	Purpose string `json:"purpose"`
	// Schematic is the identity of the image.
	Schematic string `json:"schematic"`
	// URL is where a factory that knows the schematic serves the image.
	URL string `json:"url"`
	// File is the name under which the image is kept.
	File string `json:"file"`

	document string // the schematic as text
}

// NewMatrix returns the matrix of resolved roles, and in a sentence each what is left out of it and why. Of wanted, where
// the images are asked for, their release, their platform and SecureBoot count. A role of which no image can be made is
// an error: a pipeline that quietly builds less than all roles is worse than one that does not run.
func NewMatrix(roles []*api.NodeRole, wanted Image, kind Kind) (*Matrix, []string, error) {
	platform, err := findPlatform(wanted.Platform)
	if err != nil {
		return nil, nil, err
	}
	factory, err := parseFactory(wanted.Factory)
	if err != nil {
		return nil, nil, err
	}
	matrix := &Matrix{factory: strings.TrimSuffix(factory.String(), "/"), version: wanted.Version}
	var leftOut []string
	for _, role := range roles {
		architectures, without, err := Architectures(role, wanted.Version)
		if err != nil {
			return nil, nil, err
		}
		leftOut = append(leftOut, without...)
		for _, architecture := range architectures {
			if !slices.Contains(architecturesOf(platform), architecture) {
				leftOut = append(leftOut, fmt.Sprintf("no image for %s: role %q: platform %s has none", architecture, role.Name, platform.Name))
				continue
			}
			wanted.Architecture = architecture
			build, err := newBuild(role, wanted, kind)
			if err != nil {
				return nil, nil, err
			}
			matrix.Include = append(matrix.Include, build)
		}
	}
	slices.SortFunc(matrix.Include, func(a, b Build) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Architecture, b.Architecture))
	})
	return matrix, leftOut, nil
}

// newBuild returns one image of a matrix.
func newBuild(role *api.NodeRole, wanted Image, kind Kind) (Build, error) {
	image, err := For(role, wanted)
	if err != nil {
		return Build{}, err
	}
	address, err := image.URL(kind)
	if err != nil {
		return Build{}, err
	}
	whole, err := Schematic(role, schematic.Schematic{})
	if err != nil {
		return Build{}, err
	}
	document, err := whole.Marshal()
	if err != nil {
		return Build{}, err
	}
	suffix := "-" + role.Name
	return Build{
		Name: role.Name + "-" + string(image.Architecture), Role: role.Name, Architecture: image.Architecture,
		Extensions: append([]string{}, Extensions(role)...), // a list in JSON, even if it is empty
		Suffix:     suffix, Purpose: cmp.Or(role.Spec.Description, "Machines of role "+role.Name+"."),
		Schematic: image.Schematic, URL: address, File: withSuffix(address[strings.LastIndex(address, "/")+1:], suffix),
		document: string(document),
	}, nil
}

// withSuffix puts the suffix of a role into the name of a file, before what says how the file is packed.
func withSuffix(file, suffix string) string {
	name, packed, ok := strings.Cut(file, ".")
	if ok {
		packed = "." + packed
	}
	return name + suffix + packed
}
