// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// Introduced is the minor version of Talos that a kind of document came with, such as "1.14"; false for what is no kind.
func Introduced(kind string) (version string, ok bool) {
	minor, ok := introduced[kind]
	return fmt.Sprintf("1.%d", minor), ok
}

// Restricted says whether the API server does not let a worker put a label on its own Node.
func Restricted(label string) bool { return restricted(label) }

// Validate returns what Talos refuses in a whole configuration, on one line; with what it wants of a machine that it is installed on,
// if it is.
func Validate(provider config.Provider, installed bool) error {
	how := inPlace
	if installed {
		how = onMetal
	}
	if _, err := provider.ValidateAsClient(how, validation.WithLocal()); err != nil {
		return refused(err)
	}
	return nil
}

// A NewerKindError is a document that came with a later Talos than its cluster has.
type NewerKindError struct {
	// Where is the patch that has the document, and Kind its kind.
	Where, Kind string
	// Came and Has are the minor versions of Talos that the document came with, and that the cluster has.
	Came, Has int
}

// Error says so on one line.
func (e *NewerKindError) Error() string {
	return fmt.Sprintf("%s.kind: %q came with Talos 1.%d, and the cluster runs 1.%d", e.Where, e.Kind, e.Came, e.Has)
}
