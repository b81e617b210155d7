// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// UnusedRevisions returns those revisions to which none of the machines refers: neither as the one that it should have, which is read
// when its instance is made or changed, nor as the one that it has. Machines that end or are kept for study refer to theirs.
func UnusedRevisions(candidates []string, all []api.TalosMachine) []string {
	used := map[string]bool{}
	for at := range all {
		used[string(all[at].Spec.Revision)], used[all[at].Annotations[AnnotationRevision]] = true, true
	}
	return slices.DeleteFunc(slices.Sorted(slices.Values(candidates)), func(name string) bool { return used[name] })
}
