// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/redact"
)

// A cleaner takes out of steps what our objects say by fields, what only Minos may say, and what must not be readable.
type cleaner struct {
	contract  *talosconfig.VersionContract
	plaintext bool
	hidden    []string
	dropped   []patch.Document // what was encrypted, and must not come back by another way
	left      []Remark
	notes     []Remark
	seen      map[string]bool
}

// carried are the protected paths that fields of the TalosCluster and of the NodeRole carry.
var carried = []string{
	"machine.type", "cluster.clusterName", "cluster.controlPlane.endpoint", "cluster.network.dnsDomain",
	"cluster.network.podSubnets", "cluster.network.serviceSubnets", "clusterName", "endpoint", "dnsDomain", "podSubnets",
	"serviceSubnets",
}

func newCleaner(source *Source, contract *talosconfig.VersionContract, plaintext bool) *cleaner {
	return &cleaner{contract: contract, plaintext: plaintext, hidden: source.Hidden, seen: map[string]bool{}}
}

// clean returns the steps that remain.
func (c *cleaner) clean(steps []Step) []Step {
	var kept []Step
	for _, step := range steps {
		step.sealed = step.Hidden
		if step.Hidden = c.isHidden(step); step.Hidden && !isServices(step) {
			c.drop(step)
			continue
		}
		step.Patches = c.patches(step)
		if len(step.Patches) == 0 {
			continue
		}
		if !step.Hidden && looksSecret(nil, step.documents()) {
			c.note(step.Origin, "holds what looks like a secret, and is as readable as it was")
		}
		kept = append(kept, step)
	}
	return kept
}

// isHidden says whether a step must not be readable.
func (c *cleaner) isHidden(step Step) bool {
	return !c.plaintext && (step.Hidden || holds(step.documents(), c.hidden))
}

// isServices says whether a step configures extension services and does nothing else: a role can have their secrets from
// a Secret.
func isServices(step Step) bool {
	return !slices.ContainsFunc(step.Patches, func(one Patch) bool { return one.Fields["kind"] != "ExtensionServiceConfig" })
}

// drop leaves a step behind because of what it holds.
func (c *cleaner) drop(step Step) {
	c.leave(step.Origin, "holds what was encrypted, and nothing of it is written readably: give --plaintext to write it, or declare it anew")
	c.dropped = append(c.dropped, step.documents()...)
}

// dropHidden leaves behind what is hidden still.
func (c *cleaner) dropHidden(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(step Step) bool {
		if step.Hidden {
			c.drop(step)
		}
		return step.Hidden
	})
}

// leave notes what is left behind, once.
func (c *cleaner) leave(origin Origin, reason string) {
	left := Remark{Origin: origin, Text: reason}
	if !c.seen[left.String()] {
		c.seen[left.String()] = true
		c.left = append(c.left, left)
	}
}

// note notes what is to be known, once.
func (c *cleaner) note(origin Origin, text string) {
	if remark := (Remark{Origin: origin, Text: text}); !slices.Contains(c.notes, remark) {
		c.notes = append(c.notes, remark)
	}
}

// looksSecret says whether something below a path is a secret, by its name or by its form.
func looksSecret(path []string, value any) bool {
	switch value := value.(type) {
	case string:
		return value != "" && (redact.IsSecret(path) || redact.Find(value) != "")
	case patch.Document:
		for key, below := range value {
			if key != patch.Deletion && looksSecret(append(path[:len(path):len(path)], key), below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(below any) bool { return looksSecret(path, below) })
	case []patch.Document:
		return slices.ContainsFunc(value, func(below patch.Document) bool { return looksSecret(path, below) })
	}
	return false
}

// patches cleans the patches of a step.
func (c *cleaner) patches(step Step) []Patch {
	var kept []Patch
	for _, one := range step.Patches {
		fields := patch.Clone(one.Fields)
		kind, _ := fields["kind"].(string)
		for _, path := range ownFields[kind] {
			patch.Without(fields, path)
		}
		if one.Node == nil {
			withoutDefaults(fields)
		}
		if !c.unprotect(fields, step.Origin) || c.unknown(fields, step.Origin) {
			continue
		}
		if patch.IsEmpty(fields) && !patch.IsEmpty(one.Fields) {
			continue
		}
		if !reflect.DeepEqual(fields, one.Fields) {
			one = Patch{Fields: fields, Node: pruned(one.Node, fields)}
		}
		kept = append(kept, one)
	}
	return kept
}

// withoutDefaults removes what other tools say and Talos does without a word, too.
func withoutDefaults(fields patch.Document) {
	for _, path := range [][]string{{"searchDomains", "disableDefault"}, {"provisioning", "wipe"}} {
		if patch.Get(fields, path...) == false {
			patch.Without(fields, path)
		}
	}
}

// unprotect removes what only Minos may say. It reports whether the patch can still be used.
func (c *cleaner) unprotect(fields patch.Document, origin Origin) bool {
	for {
		raw, err := json.Marshal(fields)
		if err != nil {
			c.leave(origin, oneLine(err))
			return false
		}
		protected, ok := errors.AsType[*config.ProtectedError](config.Protected("", []api.Patch{{Raw: raw}}))
		if !ok {
			return true
		}
		path := strings.TrimPrefix(protected.Path, "patches[0].")
		if !slices.Contains(carried, path) {
			c.leave(origin, fmt.Sprintf("%s: %s", path, protected.Reason))
		}
		if !patch.Without(fields, strings.Split(path, ".")) {
			c.leave(origin, fmt.Sprintf("%s: a patch that removes what holds it cannot be carried over", path))
			return false
		}
	}
}

// unknown says whether the Talos version does not know the document.
func (c *cleaner) unknown(fields patch.Document, origin Origin) bool {
	raw, err := json.Marshal(fields)
	if err == nil {
		err = config.Known("", []api.Patch{{Raw: raw}}, c.contract)
	}
	if err == nil {
		return false
	}
	_, reason, _ := strings.Cut(oneLine(err), "patches[0].")
	c.leave(origin, reason)
	return true
}

// withoutHidden removes what holds one of some texts.
func withoutHidden(fields patch.Document, words []string) {
	for key, value := range fields {
		if below, ok := value.(patch.Document); ok {
			withoutHidden(below, words)
			if len(below) > 0 {
				continue
			}
		}
		if holds(key, words) || holds(value, words) || isEmptied(value) {
			delete(fields, key)
		}
	}
}

// subtract removes from a patch all that another one says.
func subtract(fields, other patch.Document) {
	for key, value := range fields {
		said, ok := other[key]
		if !ok || key == "apiVersion" || key == "kind" || key == "name" {
			continue
		}
		below, isFields := value.(patch.Document)
		saidBelow, saidFields := said.(patch.Document)
		if isFields && saidFields {
			subtract(below, saidBelow)
			if len(below) > 0 {
				continue
			}
		}
		delete(fields, key)
	}
}

func isEmptied(value any) bool {
	below, ok := value.(patch.Document)
	return ok && len(below) == 0
}

// holds says whether data hold one of some texts.
func holds(value any, words []string) bool {
	return !eachText(value, func(text string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	})
}

// eachText visits every key and every text in data until the visit is not to go on, and says whether it ended.
func eachText(value any, visit func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return visit(value)
	case patch.Document:
		for key, below := range value {
			if !visit(key) || !eachText(below, visit) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(value, func(below any) bool { return !eachText(below, visit) })
	case []patch.Document:
		return !slices.ContainsFunc(value, func(below patch.Document) bool { return !eachText(below, visit) })
	}
	return true
}
