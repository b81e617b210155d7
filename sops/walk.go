// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// A walker visits what SOPS encrypts, in the order of the file, each with the keys that lead to it. Places in lists are
// not part of a path, and null is not visited.
type walker struct {
	// scalar may change the node that it is given.
	scalar func(path []string, node *yaml.Node) error
	// item is scalar for an element of a list, and says whether the element is a comment: SOPS writes those as elements.
	item func(path []string, node *yaml.Node) (comment string, isComment bool, err error)
	// comment returns what a line of a comment, without its mark, becomes.
	comment func(path []string, line string) (string, error)
}

// documents visits all documents.
func (w *walker) documents(documents []*yaml.Node) error {
	for _, document := range documents {
		root := document.Content[0]
		for _, node := range []*yaml.Node{document, root} {
			if err := w.comments(nil, node); err != nil {
				return err
			}
		}
		if err := w.mapping(nil, root); err != nil {
			return err
		}
	}
	return nil
}

// mapping visits what is in a mapping. The comments around a scalar belong to the mapping; those around a list or a
// mapping belong to what is below.
func (w *walker) mapping(path []string, mapping *yaml.Node) error {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		below := append(path[:len(path):len(path)], key.Value)
		around := path
		if value.Kind != yaml.ScalarNode {
			around = below
		}
		if err := w.comments(path, key); err != nil {
			return err
		}
		if err := w.comments(around, value); err != nil {
			return err
		}
		if err := w.value(below, value); err != nil {
			return err
		}
	}
	return nil
}

// value visits a value of any kind.
func (w *walker) value(path []string, node *yaml.Node) error {
	switch {
	case node.Kind == yaml.MappingNode:
		return w.mapping(path, node)
	case node.Kind == yaml.SequenceNode:
		return w.sequence(path, node)
	case node.ShortTag() == "!!null":
		return nil
	}
	return w.scalar(path, node)
}

// sequence visits what is in a list, and puts elements that are comments where comments belong.
func (w *walker) sequence(path []string, list *yaml.Node) error {
	kept := list.Content[:0]
	var pending []string
	for _, node := range list.Content {
		if err := w.comments(path, node); err != nil {
			return err
		}
		text, isComment, err := w.element(path, node)
		if err != nil {
			return err
		}
		if isComment {
			pending = append(pending, mark(text))
			continue
		}
		node.HeadComment = joinComments(append(pending, node.HeadComment)...)
		pending = nil
		kept = append(kept, node)
	}
	list.Content = kept
	if len(kept) > 0 {
		last := kept[len(kept)-1]
		last.FootComment = joinComments(append([]string{last.FootComment}, pending...)...)
		return nil
	}
	list.HeadComment = joinComments(append([]string{list.HeadComment}, pending...)...)
	return nil
}

// element visits one element of a list.
func (w *walker) element(path []string, node *yaml.Node) (comment string, isComment bool, err error) {
	if w.item != nil && node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" {
		return w.item(path, node)
	}
	return "", false, w.value(path, node)
}

// comments visits the comments around a node, line by line.
func (w *walker) comments(path []string, node *yaml.Node) error {
	for _, comment := range []*string{&node.HeadComment, &node.LineComment, &node.FootComment} {
		if *comment == "" {
			continue
		}
		var lines []string
		for _, line := range strings.Split(*comment, "\n") {
			bare, isComment := strings.CutPrefix(strings.TrimLeft(line, " \t"), "#")
			if !isComment {
				lines = append(lines, line)
				continue
			}
			becomes, err := w.comment(path, bare)
			if err != nil {
				return err
			}
			lines = append(lines, mark(becomes))
		}
		*comment = strings.Join(lines, "\n")
	}
	return nil
}

// mark makes a comment of a text. A break in it must not end the comment and start a value.
func mark(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) })
	if len(lines) == 0 {
		return "#"
	}
	return strings.TrimRight("#"+strings.Join(lines, "\n#"), " \t")
}

// joinComments puts comments below each other.
func joinComments(comments ...string) string {
	var lines []string
	for _, comment := range comments {
		if comment != "" {
			lines = append(lines, comment)
		}
	}
	return strings.Join(lines, "\n")
}
