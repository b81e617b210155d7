// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"maps"
	"slices"
	"strings"
)

// AnnotationLabels is on a Machine: the labels that its Node was given, so that those can be taken away again that are wanted no
// more, and nobody asks the cluster while nothing changes.
const AnnotationLabels = "minos.dev/labels"

// A Dressing is a Node that is to have other labels.
type Dressing struct {
	// Machine is the machine, and Node its Node.
	Machine, Node string
	// Labels are what to set; nil takes one away.
	Labels map[string]any
	// Given is what AnnotationLabels says then.
	Given string
}

// Dressings are the Nodes of the pool whose labels are not as wanted, as far as it was written down. A machine that leaves keeps
// what it has.
func (l Live) Dressings(wanted map[string]string) []Dressing {
	given := labelText(wanted)
	var all []Dressing
	for at := range l.Machines {
		machine := &l.Machines[at]
		node, before := text(machine, "status", "nodeRef", "name"), machine.GetAnnotations()[AnnotationLabels]
		if node == "" || before == given || !machine.GetDeletionTimestamp().IsZero() {
			continue
		}
		labels := map[string]any{}
		for _, label := range strings.Split(before, ",") {
			if key, _, is := strings.Cut(label, "="); is {
				labels[key] = nil
			}
		}
		for key, value := range wanted {
			labels[key] = value
		}
		all = append(all, Dressing{Machine: machine.GetName(), Node: node, Labels: labels, Given: given})
	}
	return all
}

// labelText writes labels in one line, in order. Neither part of a label has a comma or an equals sign.
func labelText(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, ",")
}
