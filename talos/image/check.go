// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

// everywhere is the architectures for which Talos is built.
var everywhere = []api.Architecture{api.AMD64, api.ARM64}

// A RoleError says why an image of a role cannot be made or would not work.
type RoleError struct {
	// Role is the name of the role.
	Role string
	// Extension is the extension that is wrong; empty if it is another thing.
	Extension string
	// Err is the rest of the sentence.
	Err error
}

// Error names the role and what is wrong.
func (e *RoleError) Error() string { return fmt.Sprintf("role %q: %v", e.Role, e.Err) }

// Unwrap returns what is wrong without the role.
func (e *RoleError) Unwrap() error { return e.Err }

// Check says whether the image of a resolved role can be made for a release and an architecture. The answer is nil, a
// *RoleError for each thing that is wrong, joined, or an error about the form of the version.
func Check(role *api.NodeRole, version api.TalosVersion, architecture api.Architecture) error {
	catalogue, err := extension.Load()
	if err != nil {
		return err
	}
	if _, err := parseVersion(version); err != nil {
		return err
	}
	if declared := declaredArchitectures(role); !slices.Contains(declared, architecture) {
		return &RoleError{Role: role.Name, Err: fmt.Errorf("no image for %s: its hardware is %s", architecture, list(declared, "or"))}
	}
	var problems []error
	for _, name := range Extensions(role) {
		if err := catalogue.Check(name, version, architecture); err != nil {
			problems = append(problems, &RoleError{Role: role.Name, Extension: name, Err: err})
		}
	}
	for _, sentence := range catalogue.Missing(Extensions(role)) {
		needing, _, _ := strings.Cut(sentence, " ")
		problems = append(problems, &RoleError{Role: role.Name, Extension: needing, Err: errors.New(sentence)})
	}
	return errors.Join(problems...)
}

// Assumed says in a sentence that the catalogue of extensions has not read a release, so that what it says of it is an
// assumption; empty if it has.
func Assumed(version api.TalosVersion) string {
	catalogue, err := extension.Load()
	release, err2 := parseVersion(version)
	if err != nil || err2 != nil || catalogue.Knows(version) {
		return ""
	}
	first, last := catalogue.Tags[0], catalogue.Tags[len(catalogue.Tags)-1]
	if oldest, err := semver.ParseTolerant(first); err == nil && release.LT(oldest) {
		return fmt.Sprintf("assumed: Talos %s, older than the catalogue of extensions, has those of %s", version, first)
	}
	return fmt.Sprintf("assumed: Talos %s, newer than the catalogue of extensions, has those of %s", version, last)
}

// CheckVersion says whether a version is a full one.
func CheckVersion(version api.TalosVersion) error {
	_, err := parseVersion(version)
	return err
}

// Architectures returns the architectures for which the image of a role can be made, and in a sentence each why others
// are left out. A role that works nowhere is an error, and so is one that declares an architecture and has an extension
// that is not there for it.
func Architectures(role *api.NodeRole, version api.TalosVersion) (can []api.Architecture, leftOut []string, err error) {
	declares := role.Spec.Hardware != nil && len(role.Spec.Hardware.Architectures) > 0
	var first error
	for _, architecture := range declaredArchitectures(role) {
		switch err := Check(role, version, architecture); {
		case err == nil:
			can = append(can, architecture)
		case declares:
			return nil, nil, err
		default:
			first = cmp.Or(first, err)
			leftOut = append(leftOut, fmt.Sprintf("no image for %s: %v", architecture, err))
		}
	}
	if len(can) == 0 {
		return nil, nil, first
	}
	return can, leftOut, nil
}

// declaredArchitectures are those on which a role says that it works, in our order.
func declaredArchitectures(role *api.NodeRole) []api.Architecture {
	if role.Spec.Hardware == nil || len(role.Spec.Hardware.Architectures) == 0 {
		return everywhere
	}
	return slices.Sorted(slices.Values(role.Spec.Hardware.Architectures))
}

// parseVersion reads a full Talos version. It is stricter than Talos's own libraries, which take "1.13" for 1.13.0.
func parseVersion(version api.TalosVersion) (semver.Version, error) {
	text, found := strings.CutPrefix(string(version), "v")
	release, err := semver.Parse(text)
	if err != nil || !found {
		return semver.Version{}, fmt.Errorf("talos version %q is not a full version such as v1.13.9", version)
	}
	return release, nil
}

// list writes words for people: "a, b and c".
func list[T ~string](words []T, last string) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" " + last + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}
