// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unused returns those templates that nobody refers to any more: neither the deployment, nor a MachineSet, which could make
// another machine of it, nor a machine that was made from it. Candidates are templates of the pool.
func (l Live) Unused(candidates []string) []string {
	return l.without(candidates, []string{"infrastructureRef", "name"}, l.Virtual)
}

// UnusedRevisions returns the same for the Secrets, and the TalosConfigTemplates, with machine configurations.
func (l Live) UnusedRevisions(candidates []string) []string {
	unused := l.without(candidates, []string{"bootstrap", "dataSecretName"}, nil)
	return l.without(unused, []string{"bootstrap", "configRef", "name"}, nil)
}

// without leaves out what is referred to at a path of a machine's specification, and what things were made from.
func (l Live) without(candidates []string, path []string, made []unstructured.Unstructured) []string {
	used := map[string]bool{}
	for _, set := range l.Sets {
		used[text(&set, append([]string{"spec", "template", "spec"}, path...)...)] = true
	}
	if l.Deployment != nil {
		used[text(l.Deployment, append([]string{"spec", "template", "spec"}, path...)...)] = true
	}
	for _, machine := range l.Machines {
		used[text(&machine, append([]string{"spec"}, path...)...)] = true
	}
	for _, one := range made {
		used[one.GetAnnotations()[clonedFrom]] = true
	}
	return slices.DeleteFunc(slices.Sorted(slices.Values(candidates)), func(name string) bool { return used[name] })
}
