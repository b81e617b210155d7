// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"maps"
	"slices"
)

// An Input is a kind of facts.
type Input string

// The kinds of facts.
const (
	// Spec is what is declared with our kinds.
	Spec Input = "SPEC"
	// Config is machine configurations: rendered from declarations, or found as files.
	Config Input = "MC"
	// Schematic is schematics and imager profiles: those of declared roles, or found as files.
	Schematic Input = "SCH"
	// Catalogue is the catalogue of system extensions, which is always at hand.
	Catalogue Input = "CAT"
	// Tree is the files of the repository, with what Git tracks and ignores.
	Tree Input = "REPO"
	// Manifests is Kubernetes manifests and Helm values.
	Manifests Input = "K8S"
	// Workflows is the files of CI systems.
	Workflows Input = "CI"
	// Live is what a running cluster said of itself.
	Live Input = "LIVE"
)

// inputs are the kinds in the words of people.
var inputs = map[Input]string{
	Spec: "declarations of Minos", Config: "machine configurations", Schematic: "schematics or imager profiles", Catalogue: "catalogue of extensions",
	Tree: "Git repository", Manifests: "Kubernetes manifests or Helm values", Workflows: "CI workflows", Live: "saved facts of a running cluster",
}

// Inputs returns all kinds, sorted.
func Inputs() []Input { return slices.Sorted(maps.Keys(inputs)) }

// String is the kind in the words of people.
func (i Input) String() string { return inputs[i] }

// Without returns which of some kinds of facts are not at hand.
func (f *Facts) Without(wanted []Input) []Input {
	var missing []Input
	for _, input := range wanted {
		if !f.Has(input) {
			missing = append(missing, input)
		}
	}
	return missing
}

// Has says whether a kind of facts is at hand.
func (f *Facts) Has(input Input) bool {
	switch input {
	case Spec:
		return len(f.Documents)+len(f.Problems) > 0
	case Config:
		return len(f.Machines) > 0
	case Schematic:
		return len(f.Schematics)+len(f.Profiles) > 0
	case Catalogue:
		return true
	case Tree:
		return f.Git
	case Manifests:
		return len(f.Manifests)+len(f.Values) > 0
	case Workflows:
		return len(f.Workflows) > 0
	case Live:
		return f.Live != nil
	}
	return false
}
