// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

// Schematic returns the schematic of a role's image; its Marshal is the canonical text and its ID the identity that the
// factory would answer with. The role is a resolved one. Base is what a schematic can hold beyond a role, such as an
// overlay, META values or options of SecureBoot; the role's extensions and kernel arguments are added to it.
//
// The factory's API keeps order and duplicates, and both change the identity; its web page sorts. So do we: one set of
// extensions has one identity, that of the web page. Kernel arguments keep their order, because it has a meaning.
func Schematic(role *api.NodeRole, base schematic.Schematic) (*schematic.Schematic, error) {
	if role.Spec.Extends != "" {
		return nil, fmt.Errorf("role %q extends %q: resolve it first, or the image would lack what that brings", role.Name, role.Spec.Extends)
	}
	whole := base
	part := &whole.Customization
	part.ExtraKernelArgs = unique(slices.Concat(part.ExtraKernelArgs, role.Spec.KernelArgs))
	part.SystemExtensions.OfficialExtensions = official(slices.Concat(part.SystemExtensions.OfficialExtensions, role.Spec.Extensions))
	if err := refuseSecrets(role.Name, part); err != nil {
		return nil, err
	}
	return &whole, nil
}

// official writes extensions as a schematic names them, sorted and each once.
func official(names []string) []string {
	var full []string
	for _, name := range names {
		if !strings.Contains(name, "/") {
			name = extension.Prefix + name
		}
		full = append(full, name)
	}
	slices.Sort(full)
	return slices.Compact(full)
}

// unique keeps the first of equals, in order.
func unique(words []string) []string {
	var kept []string
	for _, word := range words {
		if !slices.Contains(kept, word) {
			kept = append(kept, word)
		}
	}
	return kept
}

// Extensions returns the names of a role's extensions without their prefix, sorted and each once.
func Extensions(role *api.NodeRole) []string {
	names := official(role.Spec.Extensions)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, extension.Prefix)
	}
	return names
}
