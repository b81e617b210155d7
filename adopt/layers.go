// SPDX-License-Identifier: Apache-2.0

package adopt

import "go.yaml.in/yaml/v3"

// Layers takes apart the steps of machines that are in groups: what all share, what each group shares, and what remains in
// the lists of the machines. The order that matters is kept. Where there is one machine alone, all is shared; what is its
// own by its nature then stays with it.
func Layers(groups [][]*[]Step, own func(Step) bool) (all []Step, perGroup [][]Step) {
	var lists []*[]Step
	for _, group := range groups {
		lists = append(lists, group...)
	}
	all = hoist(lists, func(step Step) bool { return len(lists) > 1 || !own(step) })
	for _, group := range groups {
		perGroup = append(perGroup, hoist(group, func(step Step) bool { return len(group) > 1 || !own(step) }))
	}
	return all, perGroup
}

// YAML writes patches as YAML, one a document, with what is in the order in which people write it.
func (s Step) YAML() ([]byte, error) {
	nodes := make([]*yaml.Node, 0, len(s.Patches))
	for _, one := range s.Patches {
		nodes = append(nodes, written(one.Node, one.Fields))
	}
	return encode(nodes)
}

// Holds says whether a step holds one of some texts.
func (s Step) Holds(words []string) bool { return holds(s.documents(), words) }
