// SPDX-License-Identifier: Apache-2.0

// Package compare says what differs between two machine configurations, value by value, in the words of their documents
// and without their secrets. The order of maps and documents and the style of the YAML are no difference.
package compare

import (
	"slices"
	"strings"

	"minos.dev/minos/talos/redact"
)

// A Change is one value that differs.
type Change struct {
	// Document is the kind of the document, and its name where there may be several of a kind.
	Document string `json:"document"`
	// Path is where in the document, for example machine.install.disk.
	Path string `json:"path"`
	// Old is the value before, nil where there was none. A secret is redacted.
	Old *string `json:"old,omitempty"`
	// New is the value now, nil where there is none. A secret is redacted.
	New *string `json:"new,omitempty"`
}

// Configs returns what differs between two configurations, by document and path. A text that is not YAML is an error.
func Configs(before, now []byte, secrets *redact.Redactor) ([]Change, error) {
	old, err := read(before)
	if err != nil {
		return nil, err
	}
	new, err := read(now)
	if err != nil {
		return nil, err
	}
	hidden := redact.Redactor{}
	if secrets != nil {
		hidden = *secrets
	}
	for _, documents := range []documents{old, new} {
		hidden.Learn(documents.secrets()...)
	}
	var changes []Change
	for _, name := range both(old, new) {
		changes = append(changes, leaves(name, old[name], new[name], &hidden)...)
	}
	return changes, nil
}

// leaves compares the values of one document.
func leaves(document string, old, new values, hidden *redact.Redactor) []Change {
	var changes []Change
	for _, at := range both(old, new) {
		before, was := old[at]
		now, is := new[at]
		if was && is && before.text == now.text {
			continue
		}
		change := Change{Document: document, Path: at}
		if was {
			change.Old = shown(before, hidden)
		}
		if is {
			change.New = shown(now, hidden)
		}
		changes = append(changes, change)
	}
	return changes
}

// shown is what may be shown of a value.
func shown(value value, hidden *redact.Redactor) *string {
	text, _ := hidden.Text(value.path, value.text)
	return &text
}

// both are the keys of two maps, sorted.
func both[M ~map[string]V, V any](a, b M) []string {
	var keys []string
	for key := range a {
		keys = append(keys, key)
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
