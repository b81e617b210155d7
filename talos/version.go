// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"

	api "minos.dev/minos/api/v1alpha1"
)

// An UnsupportedError says that a Talos version does not run a Kubernetes version.
type UnsupportedError struct {
	Talos      api.TalosVersion
	Kubernetes api.KubernetesVersion
	// Oldest and Newest are the minor versions of Kubernetes that this Talos version runs. Both are zero if Talos's own
	// library does not know the Talos version, so that nothing can be said.
	Oldest, Newest int
}

// Error names both versions and the way out.
func (e *UnsupportedError) Error() string {
	if e.Newest == 0 {
		return fmt.Sprintf("Talos %s is not known to this release of Minos: choose a version that it knows, or upgrade Minos", e.Talos)
	}
	return fmt.Sprintf("Talos %s does not run Kubernetes %s: it runs 1.%d to 1.%d", e.Talos, e.Kubernetes, e.Oldest, e.Newest)
}

// Supports says whether a Talos version runs a Kubernetes version, by Talos's own support matrix. The answer is nil, an
// *UnsupportedError, or an error about the form of a version.
func Supports(talos api.TalosVersion, kubernetes api.KubernetesVersion) error {
	target, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: string(talos)})
	if err != nil {
		return fmt.Errorf("talos version %q: %w", talos, err)
	}
	wanted, err := compatibility.ParseKubernetesVersion(string(kubernetes))
	if err != nil {
		return fmt.Errorf("kubernetes version %q: %w", kubernetes, err)
	}
	if wanted.SupportedWith(target) == nil {
		return nil
	}
	oldest, newest := supportedMinors(target)
	return &UnsupportedError{Talos: talos, Kubernetes: kubernetes, Oldest: oldest, Newest: newest}
}

// supportedMinors asks the matrix for every minor version in turn: it answers questions, and does not list.
func supportedMinors(target *compatibility.TalosVersion) (oldest, newest int) {
	const farAhead = 100
	for minor := 1; minor < farAhead; minor++ {
		version, err := compatibility.ParseKubernetesVersion(fmt.Sprintf("v1.%d.0", minor))
		if err != nil || version.SupportedWith(target) != nil {
			continue
		}
		if oldest == 0 {
			oldest = minor
		}
		newest = minor
	}
	return oldest, newest
}
