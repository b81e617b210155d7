// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"maps"
	"slices"
	"strings"
)

// The beginnings of labels on Nodes: of an extension in the machine's image, which Talos sets, and of a role, which whoever made the
// machine sets.
const (
	ExtensionLabel = "extensions.talos.dev/"
	RoleLabel      = "node-role.kubernetes.io/"
)

// unreal are the names under which Talos shows what is no extension of anybody: the schematic, and its own list of modules.
var unreal = []string{"schematic", "modules.dep"}

// name remembers the names of Nodes.
func (l *LiveFacts) name() {
	l.names = map[string]string{}
	for _, node := range l.Nodes {
		for _, known := range append(node.Addresses(), node.Name()) {
			l.names[known] = node.Name()
		}
	}
}

// NameOf is the name of the Node that a machine is, by its name or one of its addresses; what was given, if there is no such Node.
func (l *LiveFacts) NameOf(asked string) string {
	if name, known := l.names[asked]; known {
		return name
	}
	return asked
}

// Of are the resources of one kind by the name of the Node of their machine.
func (l *LiveFacts) Of(kind string) map[string][]*Saved {
	found := map[string][]*Saved{}
	for _, one := range l.Resources[kind] {
		name := l.NameOf(one.Node)
		found[name] = append(found[name], one)
	}
	return found
}

// Addresses are those of a Node, with its names.
func (s *Saved) Addresses() []string {
	var found []string
	some, _ := s.Get("status.addresses").([]any)
	for _, one := range some {
		found = append(found, Text(Get(one, "address")))
	}
	return found
}

// Ready is what a Node says of itself: True, False or Unknown; empty if it says nothing.
func (s *Saved) Ready() string {
	conditions, _ := s.Get("status.conditions").([]any)
	for _, condition := range conditions {
		if Text(Get(condition, "type")) == "Ready" {
			return Text(Get(condition, "status"))
		}
	}
	return ""
}

// marks are the labels and annotations of a Node that begin with something, without that.
func (s *Saved) marks(beginning string) map[string]string {
	found := map[string]string{}
	for _, path := range []string{"metadata.labels", "metadata.annotations"} {
		values, _ := s.Get(path).(map[string]any)
		for key, value := range values {
			if name, is := strings.CutPrefix(key, beginning); is {
				found[name] = Text(value)
			}
		}
	}
	return found
}

// schematic is the identity of the image that a Node says; empty if it says none.
func (s *Saved) schematic() string { return s.marks(ExtensionLabel)["schematic"] }

// ImageMarks is what a Node says of its image: the schematic, and the extensions, sorted.
func (s *Saved) ImageMarks() (schematic string, extensions []string) {
	found := s.marks(ExtensionLabel)
	schematic = found["schematic"]
	for _, name := range unreal {
		delete(found, name)
	}
	return schematic, slices.Sorted(maps.Keys(found))
}

// roles are those that a Node is labelled with, sorted.
func (s *Saved) roles() []string { return slices.Sorted(maps.Keys(s.marks(RoleLabel))) }
