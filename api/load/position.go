// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineOf returns the line of a field in its file. A field that is not there has the line of what would hold it.
func (d *Document) LineOf(path string) int { return d.before + Line(d.root, path) }

// Line is where a field stands in the text that a node was read from. A field that is not there has the line of what would hold
// it.
func Line(node *yaml.Node, path string) int {
	line := node.Line
	for _, step := range Steps(path) {
		key, value := child(node, step)
		if value == nil {
			break
		}
		node, line = value, key.Line
	}
	return line
}

// Problem is a problem of this document at a field.
func (d *Document) Problem(path, text string) Problem {
	return Problem{File: d.File, Line: d.LineOf(path), Path: path, Text: text}
}

// Steps cuts a field path such as spec.hosts[0].labels[a.b/c] into its keys and indexes.
func Steps(path string) []string {
	var found []string
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			inside, after, _ := strings.Cut(rest, "]")
			found = append(found, strings.Trim(inside, `"`))
			path = strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(found, path)
		}
		found = append(found, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return found
}

// child finds a key of a mapping or an item of a list, as the node that says where it stands and the node that it is.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	node = resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}

// resolve follows an alias to what it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
