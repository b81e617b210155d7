// SPDX-License-Identifier: Apache-2.0

package fleet

import api "minos.dev/minos/api/v1alpha1"

// Placeholders are secrets with which the machines of a role can be rendered without any: the same for all who ask, so that two
// renderings differ in what was declared only. What is made with them is for comparing, and for no machine.
func Placeholders(role *api.NodeRole) (Secrets, error) {
	bundle, err := placeholderBundle()
	return Secrets{Bundle: bundle, Values: placeholderValues(role)}, err
}
