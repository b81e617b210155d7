// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt/patch"
)

// A Place finds lines in a YAML file as it was written, before anything was filled in.
type Place struct {
	File string
	Root *yaml.Node
}

// At is the origin of a field, by keys and indexes. A field that is not there has the line of what would hold it.
func (p Place) At(path ...string) Origin {
	node, line := p.Root, 0
	var field strings.Builder
	for _, step := range path {
		if _, err := strconv.Atoi(step); err == nil {
			field.WriteString("[" + step + "]")
		} else {
			if field.Len() > 0 {
				field.WriteByte('.')
			}
			field.WriteString(step)
		}
		if below := Child(node, step); below != nil {
			node, line = below, below.Line
			continue
		}
		node = nil
	}
	return Origin{File: p.File, Line: line, Field: field.String()}
}

// Remark is the comment that stands above a field.
func (p Place) Remark(path ...string) string {
	node := p.Root
	for _, step := range path {
		node = Child(node, step)
	}
	if node == nil {
		return ""
	}
	return node.HeadComment
}

// Child is a value of a mapping or an item of a list; nil if it is not there.
func Child(node *yaml.Node, step string) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node == nil:
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1]
			}
		}
	case node.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i]
		}
	}
	return nil
}

// ParsePatches reads strategic patches, one a document. Comments are taken from what was written, because filling in
// variables and templates may have taken them away.
func ParsePatches(text, written string) ([]Patch, error) {
	nodes, err := patch.Nodes([]byte(text))
	if err != nil {
		return nil, err
	}
	originals, err := patch.Nodes([]byte(written))
	if err != nil {
		originals = nil // a template is no YAML before it is rendered
	}
	var patches []Patch
	for i, node := range nodes {
		fields, err := patch.Fields(node)
		if err != nil {
			return nil, err
		}
		if len(fields) == 0 {
			continue
		}
		if len(originals) == len(nodes) {
			copyComments(node, originals[i])
		}
		patches = append(patches, Patch{Fields: fields, Node: node})
	}
	return patches, nil
}

// copyComments brings comments back where the text is the same otherwise.
func copyComments(to, from *yaml.Node) {
	if to.Kind != from.Kind || len(to.Content) != len(from.Content) {
		return
	}
	to.HeadComment, to.LineComment, to.FootComment = from.HeadComment, from.LineComment, from.FootComment
	for i := range to.Content {
		copyComments(to.Content[i], from.Content[i])
	}
}

// shortestHidden is how long an encrypted value must be to be looked for in what is written. Shorter ones, such as true or
// 10, are no secrets.
const shortestHidden = 6

// Hide makes values known that were encrypted.
func (s *Source) Hide(values ...string) {
	for _, value := range values {
		if len(value) < shortestHidden {
			continue
		}
		known := false
		for _, other := range s.Hidden {
			known = known || other == value
		}
		if !known {
			s.Hidden = append(s.Hidden, value)
		}
	}
}

// HideEncrypted makes those values of a file known that SOPS encrypted, below a key or, without one, all: a file may be
// encrypted in part.
func (s *Source) HideEncrypted(file *File, below string) {
	raw, err := patch.Nodes(file.Raw)
	plain, err2 := patch.Nodes(file.Text)
	if !file.Encrypted || err != nil || err2 != nil {
		return
	}
	for i := range min(len(raw), len(plain)) {
		s.hideBelow(raw[i], plain[i], below)
	}
}

func (s *Source) hideBelow(raw, plain *yaml.Node, below string) {
	if plain.Kind == yaml.ScalarNode {
		if below == "" && strings.HasPrefix(raw.Value, "ENC[") {
			s.Hide(plain.Value)
		}
		return
	}
	for i := range min(len(raw.Content), len(plain.Content)) {
		next := below
		if plain.Kind == yaml.MappingNode && i%2 == 1 {
			switch key := plain.Content[i-1].Value; key {
			case below:
				next = ""
			case "apiVersion", "kind", "name": // what a document is, is no secret
				continue
			}
		}
		s.hideBelow(raw.Content[i], plain.Content[i], next)
	}
}
