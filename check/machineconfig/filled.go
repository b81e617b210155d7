// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/check/secret"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/redact"
)

// The secrets that every machine has, and those that control planes have beside them. A worker has the certificates of the
// authorities with empty keys.
var (
	everybody = []string{"machine.token", "cluster.token", "cluster.secret"}
	planes    = []string{"machine.ca.key", "cluster.ca.key", "cluster.aggregatorCA.key", "cluster.serviceAccount.key", "cluster.etcd.ca.key", "cluster.secretboxEncryptionSecret", "cluster.aescbcEncryptionSecret"}
)

// A gap is where a secret should be.
type gap struct {
	document *facts.Document
	path     string
}

// filled wants every secret of a configuration to be one. Declared machines have theirs from a bundle.
func filled(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Rendered || len(machine.Documents) == 0 {
			continue
		}
		wrong, elsewhere := gaps(machine)
		switch {
		case len(wrong) > 0:
			sheet.Fail(wrong[0].at(machine), "%s has no secret where one has to be: %s", machine.Name, paths(wrong))
		case len(elsewhere) > 0 && !sops.Encrypted(machine.Text):
			sheet.Unknown(elsewhere[0].at(machine), "secrets of %s are filled in from elsewhere: %s", machine.Name, paths(elsewhere))
		default:
			sheet.Pass(machine.At(""))
		}
	}
}

// at is a gap as a place.
func (g gap) at(machine *facts.Machine) facts.Place {
	place := machine.At("")
	place.Line, place.Path = g.document.LineOf(g.path), g.path
	return place
}

// paths are those of gaps, as a sentence has them.
func paths(gaps []gap) string {
	var all []string
	for _, one := range gaps {
		all = append(all, one.path)
	}
	return fields(all)
}

// gaps are where a machine's secrets should be and are not: what nobody filled in, and what something else fills in.
func gaps(machine *facts.Machine) (wrong, elsewhere []gap) {
	must := everybody
	if machine.ControlPlane {
		must = slices.Concat(everybody, planes)
	}
	for _, document := range machine.Documents {
		look := func(path []string, value string) {
			one := gap{document, joined(path)}
			placeholder, reference := secret.StandsIn(value)
			switch {
			case value == "" && !slices.Contains(must, one.path):
			case placeholder:
				wrong = append(wrong, one)
			case reference:
				elsewhere = append(elsewhere, one)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(document.Body)) {
			if key != "sops" {
				walk([]string{key}, document.Body[key], look)
			}
		}
	}
	return wrong, elsewhere
}

// walk looks at all texts below a value that are secrets by where they stand.
func walk(path []string, value any, look func([]string, string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			walk(append(slices.Clone(path), key), value[key], look)
		}
	case []any:
		for at, below := range value {
			walk(append(slices.Clone(path), fmt.Sprintf("[%d]", at)), below, look)
		}
	case string:
		leaf(path, value, look)
	case nil:
		leaf(path, "", look)
	}
}

// leaf looks at a text that is a secret by where it stands, or by the name of its variable.
func leaf(path []string, value string, look func([]string, string)) {
	if name, own, ok := strings.Cut(value, "="); ok && slices.Contains(path, "environment") && redact.Find(name+"=some") != "" {
		look(append(slices.Clone(path), name), own)
	} else if redact.IsSecret(path) {
		look(path, value)
	}
}

// joined is a path as a person writes it.
func joined(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[", "[") }
