// SPDX-License-Identifier: Apache-2.0

package topf

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
)

// pieces cuts patches into steps that can be shared: a document each, and of the one old document each part of it.
func pieces(documents []patch.Document) []adopt.Step {
	var steps []adopt.Step
	add := func(name string, fields patch.Document) {
		steps = append(steps, adopt.Step{Origin: adopt.Origin{File: name}, Patches: []adopt.Patch{{Fields: fields}}})
	}
	for _, document := range documents {
		if _, isNew := document["kind"]; isNew {
			add(fileName(document), document)
			continue
		}
		for _, path := range leaves(document, 3) {
			part := patch.Document{}
			patch.Set(part, patch.Get(document, path...), path...)
			add(strings.ToLower(strings.Join(path[:min(2, len(path))], "-")), part)
		}
	}
	return steps
}

// ownKinds are documents that are about one machine by their nature.
var ownKinds = []string{
	"HostnameConfig", "UnattendedInstallConfig", "LinkAliasConfig", "LinkConfig", "VLANConfig", "BondConfig", "BridgeConfig",
	"WireguardConfig", "DHCPv4Config", "DHCPv6Config", "Layer2VIPConfig", "DummyLinkConfig",
}

// isOwn says whether a step is about one machine by its nature.
func isOwn(step adopt.Step) bool {
	fields := step.Patches[0].Fields
	kind, _ := fields["kind"].(string)
	return slices.Contains(ownKinds, kind) || patch.Get(fields, "machine", "install") != nil || patch.Get(fields, "machine", "network") != nil
}

// leaves are the paths below which a patch is not cut, sorted.
func leaves(fields patch.Document, depth int) [][]string {
	var all [][]string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		below, ok := fields[key].(patch.Document)
		if !ok || depth == 1 || below[patch.Deletion] != nil || len(below) == 0 {
			all = append(all, []string{key})
			continue
		}
		for _, path := range leaves(below, depth-1) {
			all = append(all, append([]string{key}, path...))
		}
	}
	return all
}

// joined puts neighbours together that are of one file and do not speak of the same.
func joined(steps []adopt.Step) []adopt.Step {
	var all []adopt.Step
	for _, step := range steps {
		fields := step.Patches[0].Fields
		if last := len(all) - 1; last >= 0 && all[last].Origin == step.Origin && fields["kind"] == nil {
			if whole := patch.Clone(all[last].Patches[0].Fields); add(whole, fields) {
				all[last].Patches = []adopt.Patch{{Fields: whole}}
				continue
			}
		}
		all = append(all, step)
	}
	return all
}

// add adds fields to others, unless both say the same thing.
func add(to, from patch.Document) bool {
	for key, value := range from {
		old, both := to[key]
		oldFields, wasFields := old.(patch.Document)
		fields, isFields := value.(patch.Document)
		switch {
		case !both:
			to[key] = patch.Clone(value)
		case !wasFields || !isFields || oldFields[patch.Deletion] != nil || fields[patch.Deletion] != nil || !add(oldFields, fields):
			return false
		}
	}
	return true
}

// fileName is what the file of a document is called.
func fileName(document patch.Document) string {
	kind, _ := document["kind"].(string)
	name, _ := document["name"].(string)
	text := strings.ToLower(strings.TrimSuffix(kind, "Config") + "-" + name)
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, text), "-")
}
