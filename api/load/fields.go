// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"minos.dev/minos/api/nearest"
)

// metadataFields are the fields of an object's metadata. The definitions leave them to the API server.
var metadataFields = []string{
	"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "generateName",
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"managedFields", "selfLink",
}

// unknownFields finds every key that the kind does not know, wherever it stands.
func (d *Document) unknownFields(fields *structural.Structural) []Problem {
	problems := d.unknownBelow(d.root, fields, "")
	if _, metadata := child(d.root, "metadata"); metadata != nil {
		problems = append(problems, d.unknownKeys(resolve(metadata), metadataFields, "metadata")...)
	}
	return problems
}

// unknownBelow looks at one node and goes on to what it holds. Where the shape is wrong, the definition itself will
// say so, and there is nothing to compare keys with.
func (d *Document) unknownBelow(node *yaml.Node, fields *structural.Structural, path string) []Problem {
	node = resolve(node)
	if fields == nil || fields.XPreserveUnknownFields {
		return nil
	}
	switch node.Kind {
	case yaml.SequenceNode:
		var problems []Problem
		for i, item := range node.Content {
			problems = append(problems, d.unknownBelow(item, fields.Items, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return problems
	case yaml.MappingNode:
		return d.unknownInMapping(node, fields, path)
	}
	return nil
}

// unknownInMapping looks at the keys of a mapping. A free map, such as labels, has no fixed keys; metadata is looked at
// apart.
func (d *Document) unknownInMapping(node *yaml.Node, fields *structural.Structural, path string) []Problem {
	if fields.Type != "object" || fields.AdditionalProperties != nil || path == "metadata" {
		return nil
	}
	known := slices.Sorted(maps.Keys(fields.Properties))
	problems := d.unknownKeys(node, known, path)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i].Value
		if below, ok := fields.Properties[key]; ok {
			problems = append(problems, d.unknownBelow(node.Content[i+1], &below, join(path, key))...)
		}
	}
	return problems
}

// unknownKeys compares the keys of one mapping with the known ones.
func (d *Document) unknownKeys(node *yaml.Node, known []string, path string) []Problem {
	var problems []Problem
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Tag == "!!merge" || slices.Contains(known, key.Value) {
			continue
		}
		text := "there is no such field"
		if hint := nearest.Hint(key.Value, known); hint != "" {
			text += hint
		} else {
			text += ": remove it"
		}
		problems = append(problems, Problem{File: d.File, Line: d.before + key.Line, Path: join(path, key.Value), Text: text})
	}
	return problems
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
