// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	api "minos.dev/minos/api/v1alpha1"
)

// Versions are those of a control plane.
type Versions struct {
	// Asked is what was asked for last, or nothing for one that does not exist yet.
	Asked string
	// Runs is what runs, or nothing.
	Runs string
	// Wanted is what the cluster says.
	Wanted api.KubernetesVersion
}

// Held is why a control plane is not asked for the wanted version: a reason of a condition, and words.
type Held struct{ Reason, Why string }

// Next is the version to ask for now, and why it is not the wanted one. A control plane never goes down, goes up one minor
// version at a time, and takes the next step when the last one is done.
func Next(seen Versions) (api.KubernetesVersion, Held, error) {
	wanted, err := version.ParseSemantic(string(seen.Wanted))
	if err != nil {
		return "", Held{}, fmt.Errorf("spec.kubernetesVersion %q is no version: %w", seen.Wanted, err)
	}
	if seen.Asked == "" {
		return seen.Wanted, Held{}, nil
	}
	asked, err := version.ParseSemantic(seen.Asked)
	if err != nil {
		return "", Held{}, fmt.Errorf("version %q of the KamajiControlPlane is no version: %w", seen.Asked, err)
	}
	keep := api.KubernetesVersion(withPrefix(seen.Asked))
	runs := asked
	if seen.Runs != "" {
		if runs, err = version.ParseSemantic(seen.Runs); err != nil {
			return "", Held{}, fmt.Errorf("version %q that the control plane runs is no version: %w", seen.Runs, err)
		}
	}
	switch {
	case wanted.LessThan(asked):
		return keep, Held{api.ReasonInvalid, fmt.Sprintf("it stays at %s: %s is older, and a control plane never goes down; set spec.kubernetesVersion to %s or newer",
			keep, seen.Wanted, keep)}, nil
	case wanted.Minor() == asked.Minor():
		return seen.Wanted, Held{}, nil
	case runs.LessThan(asked):
		return keep, Held{api.ReasonProgressing, fmt.Sprintf("it goes to %s when %s runs everywhere: %s still does", seen.Wanted, keep, withPrefix(seen.Runs))}, nil
	case wanted.Minor() > asked.Minor()+1:
		step := api.KubernetesVersion(fmt.Sprintf("v%d.%d.0", asked.Major(), asked.Minor()+1))
		return step, Held{api.ReasonProgressing, fmt.Sprintf("it goes to %s by way of %s, one minor version at a time", seen.Wanted, step)}, nil
	}
	return seen.Wanted, Held{}, nil
}

// withPrefix is a version as we write it.
func withPrefix(text string) string { return "v" + strings.TrimPrefix(text, "v") }
