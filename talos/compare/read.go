// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/talos/redact"
)

// documents are the documents of a configuration, each by its kind and name, as the values at its leaves.
type documents map[string]values

// values are the values of a document, by their paths as they are printed.
type values map[string]value

// A value is one leaf of a document.
type value struct {
	path []string
	text string
}

// read takes a configuration apart.
func read(text []byte) (documents, error) {
	all := documents{}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var fields map[string]any
		err := decoder.Decode(&fields)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("not a machine configuration: %w", err)
		}
		if len(fields) == 0 {
			continue
		}
		found := values{}
		found.add(nil, fields)
		all[all.free(nameOf(fields))] = found
	}
}

// nameOf is what a document is called: the one old document has neither kind nor name.
func nameOf(fields map[string]any) string {
	kind, _ := fields["kind"].(string)
	name, _ := fields["name"].(string)
	switch {
	case kind == "":
		return "v1alpha1"
	case name == "":
		return kind
	}
	return kind + "/" + name
}

// free is a name that no document has yet: Talos refuses two of a name, and a comparison should still show both.
func (d documents) free(name string) string {
	for i, candidate := 2, name; ; i++ {
		if _, taken := d[candidate]; !taken {
			return candidate
		}
		candidate = fmt.Sprintf("%s (%d)", name, i)
	}
}

// add adds what is below a path. An empty mapping or list is a value too: it may say something that its absence does not.
func (v values) add(path []string, node any) {
	switch node := node.(type) {
	case map[string]any:
		for key, below := range node {
			v.add(append(path[:len(path):len(path)], key), below)
		}
		if len(node) == 0 {
			v.leaf(path, "{}")
		}
	case []any:
		for i, below := range node {
			v.add(append(path[:len(path):len(path)], "["+strconv.Itoa(i)+"]"), below)
		}
		if len(node) == 0 {
			v.leaf(path, "[]")
		}
	case nil:
		v.leaf(path, "null")
	default:
		v.leaf(path, fmt.Sprint(node))
	}
}

func (v values) leaf(path []string, text string) {
	v[printed(path)] = value{path, text}
}

// printed is a path as a person would write it. A step that is not a word is quoted.
func printed(path []string) string {
	var b strings.Builder
	for i, step := range path {
		switch {
		case strings.HasPrefix(step, "["):
			b.WriteString(step)
		case strings.ContainsAny(step, ".[] "):
			b.WriteString("[" + strconv.Quote(step) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// secrets are the values that are secret by their paths.
func (d documents) secrets() []string {
	var found []string
	for _, values := range d {
		for _, value := range values {
			if redact.IsSecret(value.path) {
				found = append(found, value.text)
			}
		}
	}
	return found
}
