// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"testing"

	"minos.dev/minos/sim/crds"
)

// InstallModule installs the definitions that lie in a folder of somebody else's Go module, in the release that sim/crds
// pins, and waits until the API server serves them. An empty folder is the one where kubebuilder puts them.
func InstallModule(t testing.TB, module, folder string) {
	t.Helper()
	version, err := crds.Version(module)
	if err != nil {
		t.Fatal(err)
	}
	if folder == "" {
		folder = crds.Folder
	}
	definitions, err := crds.In(t.Context(), module, version, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		if err := Install(t.Context(), Client(t), definition); err != nil {
			t.Fatalf("%s: %v", definition.Name, err)
		}
	}
}
