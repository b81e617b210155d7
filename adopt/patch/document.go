// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// A Document is a configuration document, or a strategic patch of one.
type Document = map[string]any

// Deletion is the key by which a strategic patch removes what it stands in; its value is "delete".
const Deletion = "$patch"

// deleted is what stands in place of something that a strategic patch removes.
func deleted() Document { return Document{Deletion: "delete"} }

// ID tells documents apart, and is what people call one: its kind, and its name if it has one. The one old document has
// neither.
func ID(d Document) string {
	kind, _ := d["kind"].(string)
	name, _ := d["name"].(string)
	switch {
	case kind == "":
		return "v1alpha1"
	case name == "":
		return kind
	}
	return kind + "/" + name
}

// Decode reads documents from YAML. A document that holds nothing is left out.
func Decode(text []byte) ([]Document, error) {
	nodes, err := Nodes(text)
	if err != nil {
		return nil, err
	}
	var documents []Document
	for _, node := range nodes {
		document, err := Fields(node)
		if err != nil {
			return nil, err
		}
		if len(document) > 0 {
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// Nodes reads YAML as trees, one a document, with order and comments.
func Nodes(text []byte) ([]*yaml.Node, error) {
	var nodes []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, err
		}
		if len(node.Content) == 1 {
			nodes = append(nodes, node.Content[0])
		}
	}
}

// Fields returns the mapping that a tree is. Nothing at all is an empty mapping.
func Fields(node *yaml.Node) (Document, error) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return nil, nil
	}
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: is not a mapping of configuration fields", node.Line)
	}
	value, err := Value(node)
	if err != nil {
		return nil, err
	}
	fields, ok := value.(Document)
	if !ok {
		return nil, fmt.Errorf("line %d: is not a mapping of configuration fields", node.Line)
	}
	return fields, nil
}

// Value returns a tree as plain data. What looks like a date stays the text that it is: no field of Talos is one.
func Value(node *yaml.Node) (any, error) {
	datesAsText(node, 0)
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	return named(value), nil
}

// deepest is how deep a tree may be. Deeper ones are made to break readers.
const deepest = 100

// datesAsText marks dates as text, so that decoding leaves them alone. It does not follow aliases: what they stand for is
// in the tree too.
func datesAsText(node *yaml.Node, depth int) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	if depth > deepest {
		return
	}
	for _, below := range node.Content {
		datesAsText(below, depth+1)
	}
}

// named gives every mapping keys that are text: YAML allows others, JSON and Talos do not.
func named(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			value[key] = named(below)
		}
		return value
	case map[any]any:
		fields := Document{}
		for key, below := range value {
			fields[fmt.Sprint(key)] = named(below)
		}
		return fields
	case []any:
		for i, below := range value {
			value[i] = named(below)
		}
		return value
	}
	return value
}

// Clone is a copy of plain data that shares nothing with it.
func Clone[T any](value T) T {
	copied, _ := clone(any(value)).(T) // a copy is of the type of what it is a copy of
	return copied
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		copied := make(map[string]any, len(value))
		for key, below := range value {
			copied[key] = clone(below)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, below := range value {
			copied[i] = clone(below)
		}
		return copied
	case []Document:
		copied := make([]Document, len(value))
		for i, below := range value {
			copied[i] = Clone(below)
		}
		return copied
	}
	return value
}
