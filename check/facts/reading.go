// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The kinds of what a running cluster says of itself: the Nodes of Kubernetes, and resources of Talos by their type.
const (
	LiveNodes             = "Nodes"
	LiveVersions          = "Versions.runtime.talos.dev"
	LiveMachineStatuses   = "MachineStatuses.runtime.talos.dev"
	LiveExtensionStatuses = "ExtensionStatuses.runtime.talos.dev"
	LiveDiagnostics       = "Diagnostics.runtime.talos.dev"
	LiveServices          = "Services.v1alpha1.talos.dev"
	LiveMachineConfigs    = "MachineConfigs.config.talos.dev"
	LiveEtcdMembers       = "EtcdMembers.etcd.talos.dev"
	LiveDisks             = "Disks.block.talos.dev"
	LiveSystemDisks       = "SystemDisks.block.talos.dev"
	LiveDiscoveredVolumes = "DiscoveredVolumes.block.talos.dev"
)

// LiveResources are the resources of Talos that rules read, each as its type.
func LiveResources() []string {
	return []string{
		LiveVersions, LiveMachineStatuses, LiveExtensionStatuses, LiveDiagnostics, LiveServices, LiveMachineConfigs, LiveEtcdMembers, LiveDisks,
		LiveSystemDisks, LiveDiscoveredVolumes,
	}
}

// What the object of a reading calls itself in a saved file.
const (
	readingVersion = "check.minos.dev/v1alpha1"
	readingKind    = "Reading"
)

// A Reading says what was asked of one machine, or of the API server, so that "there is none" can be told from "could not be read".
type Reading struct {
	// Node is the machine by the name or the address by which it was asked; empty for the API server.
	Node string
	// Read are the kinds that were read, also where there were none.
	Read []string
	// Unread are those that could not be read.
	Unread []Unread
}

// Unread is something that could not be read.
type Unread struct {
	// What is its kind, and Why what stood in the way, in one line.
	What, Why string
}

// Object is a reading as it is saved.
func (r Reading) Object() map[string]any {
	read, unread := []any{}, []any{}
	for _, what := range r.Read {
		read = append(read, what)
	}
	for _, one := range r.Unread {
		unread = append(unread, map[string]any{"what": one.What, "why": one.Why})
	}
	return map[string]any{"apiVersion": readingVersion, "kind": readingKind, "node": r.Node, "read": read, "unread": unread}
}

// isReading says whether an object is a reading.
func isReading(object map[string]any) bool {
	return Text(object["apiVersion"]) == readingVersion && Text(object["kind"]) == readingKind
}

// read takes a reading that was saved.
func (l *LiveFacts) read(object map[string]any) {
	reading := Reading{Node: Text(object["node"])}
	kinds, _ := object["read"].([]any)
	for _, kind := range kinds {
		what := Text(kind)
		reading.Read = append(reading.Read, what)
		if _, known := l.Resources[what]; !known && what != LiveNodes {
			l.Resources[what] = nil
		}
	}
	failed, _ := object["unread"].([]any)
	for _, one := range failed {
		reading.Unread = append(reading.Unread, Unread{What: Text(Get(one, "what")), Why: Text(Get(one, "why"))})
	}
	l.Readings = append(l.Readings, reading)
}

// saved takes a file of saved facts, unless a running cluster was asked just now: then it is of another day.
func (r *reader) saved(file *File) bool {
	if !r.now {
		return r.live(file)
	}
	other := &reader{facts: &Facts{}}
	return other.live(file)
}

// Missing is what could not be read of some kinds, one line for each machine and reason.
func (l *LiveFacts) Missing(kinds []string) []Missing {
	var found []Missing
	for _, reading := range l.Readings {
		for _, one := range reading.Unread {
			if !slices.Contains(kinds, one.What) {
				continue
			}
			same := func(other Missing) bool { return other.node == reading.Node && other.why == one.Why }
			if at := slices.IndexFunc(found, same); at >= 0 {
				found[at].what = append(found[at].what, one.What)
				continue
			}
			found = append(found, Missing{Machine: l.NameOf(reading.Node), node: reading.Node, what: []string{one.What}, why: one.Why})
		}
	}
	return found
}

// Missing is what could not be read of one machine, for one reason.
type Missing struct {
	// Machine is the name of its Node, or how it was asked if it has none; empty for the API server.
	Machine string
	node    string
	what    []string
	why     string
}

// String says so in one line.
func (m Missing) String() string {
	var words []string
	for _, what := range m.what {
		word, _, _ := strings.Cut(what, ".")
		words = append(words, word)
	}
	of := cmp.Or(m.Machine, "the cluster")
	if m.node != m.Machine {
		of = fmt.Sprintf("%s (%s)", of, m.node)
	}
	return fmt.Sprintf("could not read %s of %s: %s", strings.Join(words, ", "), of, m.why)
}
