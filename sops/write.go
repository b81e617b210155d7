// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// defaultIndent is that of SOPS.
const defaultIndent = 4

// write writes documents.
func write(documents []*yaml.Node, indent int) ([]byte, error) {
	var text bytes.Buffer
	writer := yaml.NewEncoder(&text)
	writer.SetIndent(indent)
	for _, document := range documents {
		if err := writer.Encode(document); err != nil {
			return nil, fmt.Errorf("write YAML: %w", err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return text.Bytes(), nil
}

// indentOf is the indentation of a text that SOPS wrote: how far the metadata stand in.
func indentOf(text []byte) int {
	_, block, found := bytes.Cut(text, []byte("\n"+metadataKey+":\n"))
	if !found {
		return defaultIndent
	}
	in := len(block) - len(bytes.TrimLeft(block, " "))
	if in < 2 || in > 9 { // YAML needs one, and the writer takes these
		return defaultIndent
	}
	return in
}
