// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/api/load"
)

// A Document is one YAML or JSON document of a file, whatever it is.
type Document struct {
	// File is the file that it stands in.
	File *File
	// Line is the line at which it begins.
	Line int
	// Body is its content: maps, lists and values. Nil if it is not a map.
	Body map[string]any

	node *yaml.Node
}

// mostDocuments bounds how many documents a file may have: a reader of what nobody has to trust ends.
const mostDocuments = 10_000

// parse reads the documents of a file.
func parse(file *File) ([]*Document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(file.Text))
	var found []*Document
	for len(found) < mostDocuments {
		node := &yaml.Node{}
		if err := decoder.Decode(node); err != nil {
			if errors.Is(err, io.EOF) {
				return found, nil
			}
			return nil, err
		}
		document := &Document{File: file, Line: node.Line, node: node}
		if err := node.Decode(&document.Body); err == nil && document.Body != nil {
			found = append(found, document)
		}
	}
	return found, nil
}

// Kind is the kind of an object; empty if it is none.
func (d *Document) Kind() string { return d.String("kind") }

// APIVersion is the group and version of an object; empty if it is none.
func (d *Document) APIVersion() string { return d.String("apiVersion") }

// Name is the name of an object.
func (d *Document) Name() string { return d.String("metadata.name") }

// Namespace is the namespace of an object.
func (d *Document) Namespace() string { return d.String("metadata.namespace") }

// Get returns what stands at a path such as spec.template.spec.containers[0].image; nil if there is nothing.
func (d *Document) Get(path string) any { return Get(d.Body, path) }

// String returns the text at a path; empty if there is none.
func (d *Document) String(path string) string { return Text(d.Get(path)) }

// List returns the list at a path; nil if there is none.
func (d *Document) List(path string) []any {
	list, _ := d.Get(path).([]any)
	return list
}

// Map returns the map at a path; nil if there is none.
func (d *Document) Map(path string) map[string]any {
	found, _ := d.Get(path).(map[string]any)
	return found
}

// LineOf is the line of a path in the file; of what would hold it, if it is not there.
func (d *Document) LineOf(path string) int {
	return load.Line(d.node.Content[0], path)
}

// At is a path of the document as a place.
func (d *Document) At(path string) Place {
	return Place{File: d.File.Path, Line: d.LineOf(path), Path: path}
}

// Text is a value as text: empty if there is none, or if it is a map or a list.
func Text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case int:
		return strconv.Itoa(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return ""
}

// Get returns what stands at a path below a value; nil if there is nothing.
func Get(value any, path string) any {
	for _, step := range load.Steps(path) {
		switch at := value.(type) {
		case map[string]any:
			value = at[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(at) {
				return nil
			}
			value = at[index]
		default:
			return nil
		}
	}
	return value
}
