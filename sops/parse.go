// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Bounds on what is read: a file of secrets is far below them, and a hostile one costs no more than this.
const (
	maxSize       = 2 << 20 // bytes of a file, encrypted or not
	maxDepth      = 100     // levels of nesting
	maxDocuments  = 1000    // documents of a file: each gets all the metadata
	maxRecipients = 256     // keys that a file is encrypted for
)

// parse reads the documents of a text, and refuses what would not survive: SOPS knows scalars, lists and mappings with
// words as keys, and writes everything else as something that it was not.
func parse(text []byte) ([]*yaml.Node, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("has %d MiB, and may have %d", len(text)>>20, maxSize>>20)
	}
	return read(text)
}

// read is parse for a text of our own, of any size.
func read(text []byte) ([]*yaml.Node, error) {
	var documents []*yaml.Node
	reader := yaml.NewDecoder(bytes.NewReader(text))
	for {
		document := &yaml.Node{}
		err := reader.Decode(document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		if len(documents) == maxDocuments {
			return nil, fmt.Errorf("has more than %d documents", maxDocuments)
		}
		root, err := rootOf(document)
		if err != nil {
			return nil, err
		}
		if err := survives(root, 0); err != nil {
			return nil, err
		}
		inBlocks(document)
		documents = append(documents, document)
	}
}

// restyle lets a text have the style that it would have been given: not every block is written as it was read.
func restyle(node *yaml.Node) {
	if _, err := (plain{kindText, node.Value}).set(node); err != nil {
		node.Style = yaml.DoubleQuotedStyle
	}
}

// inBlocks takes the flow style away, as SOPS does. A comment beside a list or a mapping in that style moves above it, or
// it would be written beside what follows; its place is part of what it is bound to, so that this comes first.
func inBlocks(node *yaml.Node) {
	for i, below := range node.Content {
		if below.Kind == yaml.ScalarNode && below.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0 && below.ShortTag() == "!!str" {
			restyle(below)
		}
		if len(below.Content) > 0 && below.Style&yaml.FlowStyle != 0 {
			below.Style &^= yaml.FlowStyle
			above := below
			if node.Kind == yaml.MappingNode {
				above = node.Content[i-1] // its key
			}
			above.HeadComment, below.LineComment = joinComments(above.HeadComment, below.LineComment), ""
		}
		inBlocks(below)
	}
}

// rootOf returns the mapping that a document is. One without content becomes an empty mapping, to have a place for the
// metadata.
func rootOf(document *yaml.Node) (*yaml.Node, error) {
	if len(document.Content) != 1 {
		return nil, errors.New("a document without content")
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.MappingNode:
		return root, nil
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		root.Kind, root.Tag, root.Value, root.Style = yaml.MappingNode, "!!map", "", 0
		return root, nil
	}
	return nil, fmt.Errorf("line %d: a document must be a mapping", root.Line)
}

// survives says what in a node SOPS would lose.
func survives(node *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: more than %d levels deep", node.Line, maxDepth)
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return fmt.Errorf("line %d: anchors and aliases are not kept: write the value out", node.Line)
	case !plainTags[node.ShortTag()]:
		return fmt.Errorf("line %d: the tag %s is not kept: write the value without it", node.Line, node.ShortTag())
	}
	if node.Kind == yaml.MappingNode {
		if err := uniqueKeys(node); err != nil {
			return err
		}
	}
	for _, below := range node.Content {
		if err := survives(below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// plainTags are the kinds of values that come back as they were.
var plainTags = map[string]bool{
	"!!map": true, "!!seq": true, "!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true,
	"!!timestamp": true, "!!binary": true,
}

// uniqueKeys says what is wrong with the keys of a mapping.
func uniqueKeys(mapping *yaml.Node) error {
	seen := make(map[string]bool, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			return fmt.Errorf("line %d: a key must be a word: quote it", key.Line)
		case seen[key.Value]:
			return fmt.Errorf("line %d: the key %q is there twice", key.Line, key.Value)
		}
		seen[key.Value] = true
	}
	return nil
}
