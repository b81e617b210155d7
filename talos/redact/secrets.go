// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Secrets are the values of a text of YAML documents that are secret by where they stand, the longest first, so that one which holds
// another is hidden whole. A text that cannot be read has none that could be told apart: what was read before is returned.
func Secrets(text []byte) []string {
	found := map[string]bool{}
	reader := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document any
		if err := reader.Decode(&document); err != nil {
			break
		}
		secretsBelow(document, nil, found)
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int { return len(b) - len(a) })
}

// secretsBelow looks through a value.
func secretsBelow(value any, path []string, found map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			secretsBelow(below, append(slices.Clone(path), key), found)
		}
	case []any:
		for at, below := range value {
			secretsBelow(below, append(slices.Clone(path), fmt.Sprintf("[%d]", at)), found)
		}
	case string:
		if len(value) >= shortest && IsSecret(path) {
			found[value] = true
		}
	}
}
