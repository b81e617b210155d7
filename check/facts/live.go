// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// LiveFacts are what a running cluster said of itself, as it was saved.
type LiveFacts struct {
	// Nodes are the Kubernetes Nodes.
	Nodes []*Saved
	// Resources are those of Talos, by type as talosctl names it, for example machinestatuses.runtime.talos.dev. A type that was
	// read and has none is there, without any.
	Resources map[string][]*Saved
	// Readings say what was asked, and what could not be read. What people saved by hand has none.
	Readings []Reading

	names map[string]string // of Nodes, by names and addresses
}

// Saved is one saved object.
type Saved struct {
	// File is where it stands.
	File *File
	// Node is the machine that it is of, by the address or name by which it was asked.
	Node string
	// Body is what it says.
	Body map[string]any
}

// Get returns what stands at a path; nil if there is nothing.
func (s *Saved) Get(path string) any { return Get(s.Body, path) }

// String returns the text at a path; empty if there is none.
func (s *Saved) String(path string) string { return Text(s.Get(path)) }

// Name is the name of the object.
func (s *Saved) Name() string {
	if name := s.String("metadata.name"); name != "" {
		return name
	}
	return s.String("metadata.id")
}

// At is a path of the object as a place.
func (s *Saved) At(path string) Place { return Place{File: s.File.Path, Machine: s.Node, Path: path} }

// live reads a file of saved facts: a List of Nodes as kubectl prints it, resources one after another as talosctl does, and what
// Minos says of its own reading. What is none of these is none.
func (r *reader) live(file *File) bool {
	objects := jsonObjects(file.Text)
	found := false
	for _, object := range objects {
		switch {
		case isReading(object):
			r.liveFacts().read(object)
			found = true
		case isNodeList(object):
			items, _ := object["items"].([]any)
			for _, item := range items {
				body, _ := item.(map[string]any)
				node := &Saved{File: file, Body: body}
				node.Node = node.Name()
				r.liveFacts().Nodes = append(r.liveFacts().Nodes, node)
			}
			found = true
		case Get(object, "metadata.type") != nil && object["node"] != nil:
			kind := Text(Get(object, "metadata.type"))
			r.liveFacts().Resources[kind] = append(r.liveFacts().Resources[kind], &Saved{File: file, Node: Text(object["node"]), Body: object})
			found = true
		}
	}
	return found
}

// liveFacts are the facts, made when the first is found.
func (r *reader) liveFacts() *LiveFacts {
	if r.facts.Live == nil {
		r.facts.Live = &LiveFacts{Resources: map[string][]*Saved{}}
	}
	return r.facts.Live
}

// isNodeList says whether an object is what kubectl get nodes -o json prints.
func isNodeList(object map[string]any) bool {
	items, ok := object["items"].([]any)
	return ok && len(items) > 0 && Text(Get(items[0], "kind")) == "Node"
}

// jsonObjects reads objects one after another, or a list of them. What is not JSON has none.
func jsonObjects(text []byte) []map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var found []map[string]any
	for len(found) < mostDocuments {
		var value any
		if err := decoder.Decode(&value); err != nil {
			if errors.Is(err, io.EOF) {
				return found
			}
			return nil
		}
		switch value := value.(type) {
		case map[string]any:
			found = append(found, value)
		case []any:
			for _, item := range value {
				if object, ok := item.(map[string]any); ok {
					found = append(found, object)
				}
			}
		}
	}
	return found
}
