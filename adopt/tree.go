// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt/patch"
)

// tree is data as a tree that is written as a person would: the identity of a document first, and the rest by name.
func tree(value any) *yaml.Node {
	switch value := value.(type) {
	case *yaml.Node:
		return value
	case patch.Document:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range ordered(value) {
			below := tree(value[key])
			if mode, ok := value[key].(int); ok && key == "permissions" {
				below.Value = fmt.Sprintf("0o%03o", mode) // as people write them
			}
			node.Content = append(node.Content, tree(key), below)
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range value {
			node.Content = append(node.Content, tree(item))
		}
		return node
	}
	node := &yaml.Node{}
	_ = node.Encode(value) // scalars always can be
	return node
}

// ordered are the keys of a document in the order that people expect.
func ordered(fields patch.Document) []string {
	first := []string{"apiVersion", "kind", "name", "registry", "provider", "key", "value", "podCIDRs", "serviceCIDRs"}
	keys := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(keys, func(a, b string) int {
		at := func(key string) int {
			if i := slices.Index(first, key); i >= 0 {
				return i
			}
			return len(first)
		}
		return at(a) - at(b)
	})
	return keys
}

// ambiguous is what readers of YAML 1.1 take for something else than text: kubectl is one, and so is our own reader.
var ambiguous = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|~|<<|=)$` +
	`|^[-+]?([0-9][0-9_]*)?\.?[0-9_]*(e[-+]?[0-9]+)?$|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$` +
	`|^[-+]?0[xbo][0-9a-f_]+$|^[-+]?\.(inf|nan)$|^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`)

// written is a tree as somebody wrote it, made safe for every reader: what is text for Talos is marked as such. Trees with
// aliases are given up, because what they refer to may stand elsewhere.
func written(node *yaml.Node, fields patch.Document) *yaml.Node {
	if node == nil || hasAlias(node) {
		return tree(fields)
	}
	return safe(node)
}

func safe(node *yaml.Node) *yaml.Node {
	copied := *node
	copied.Content = nil
	copied.Anchor = ""
	copied.Line, copied.Column = 0, 0
	for _, below := range node.Content {
		copied.Content = append(copied.Content, safe(below))
	}
	if node.Kind != yaml.ScalarNode {
		return &copied
	}
	switch {
	case node.ShortTag() == "!!str" && node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 && ambiguous.MatchString(node.Value):
		copied.Tag, copied.Style = "!!str", yaml.DoubleQuotedStyle
	case node.ShortTag() == "!!int" && strings.ContainsAny(node.Value, "xXb_"):
		number := tree(mustValue(node))
		copied.Value, copied.Style = number.Value, 0
		copied.LineComment = strings.TrimSpace("# " + node.Value + " " + strings.TrimPrefix(node.LineComment, "#"))
	}
	return &copied
}

func mustValue(node *yaml.Node) any {
	value, err := patch.Value(node)
	if err != nil {
		return node.Value
	}
	return value
}

func hasAlias(node *yaml.Node) bool {
	return node.Kind == yaml.AliasNode || node.Kind == yaml.MappingNode && node.Tag == "!!merge" || slices.ContainsFunc(node.Content, hasAlias)
}

// pruned is a tree without what is not in the fields any more.
func pruned(node *yaml.Node, fields patch.Document) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode || hasAlias(node) {
		return nil
	}
	copied := *node
	copied.Content = nil
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		kept, ok := fields[key.Value]
		if !ok {
			continue
		}
		if below, isFields := kept.(patch.Document); isFields && value.Kind == yaml.MappingNode {
			value = pruned(value, below)
		}
		copied.Content = append(copied.Content, key, value)
	}
	return &copied
}

// widest is how wide a comment may be.
const widest = 100

// wrapped breaks a comment into lines.
func wrapped(text string) []string {
	var lines []string
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > widest && line != "#" {
			lines, line = append(lines, line), "#"
		}
		line += " " + word
	}
	if line != "#" {
		lines = append(lines, line)
	}
	return lines
}

// commented puts a comment above a node.
func commented(node *yaml.Node, lines ...string) *yaml.Node {
	var all []string
	for _, line := range lines {
		all = append(all, wrapped(line)...)
	}
	if len(all) == 0 {
		return node
	}
	copied := *node
	if copied.HeadComment != "" {
		all = append(all, copied.HeadComment)
	}
	copied.HeadComment = strings.Join(all, "\n")
	return &copied
}
