// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// metadataKey is where a document has its metadata.
const metadataKey = "sops"

// formatVersion is the version of SOPS whose format this is. Older ones read it too.
const formatVersion = "3.13.3"

// metadata is the block at the end of each document. The order is that of SOPS: by name.
type metadata struct {
	Age               []entry `yaml:"age"`
	EncryptedRegex    string  `yaml:"encrypted_regex,omitempty"`
	EncryptedSuffix   string  `yaml:"encrypted_suffix,omitempty"`
	LastModified      string  `yaml:"lastmodified"`
	MAC               string  `yaml:"mac"`
	MACOnlyEncrypted  bool    `yaml:"mac_only_encrypted,omitempty"`
	UnencryptedRegex  string  `yaml:"unencrypted_regex,omitempty"`
	UnencryptedSuffix string  `yaml:"unencrypted_suffix,omitempty"`
	Version           string  `yaml:"version"`

	// Unsupported is all the rest: other kinds of keys, and what newer versions of SOPS may add.
	Unsupported map[string]yaml.Node `yaml:",inline"`
}

// An entry is the data key for one recipient.
type entry struct {
	Enc       string `yaml:"enc"`
	Recipient string `yaml:"recipient"`
}

// otherKeys are the kinds of keys that are not age, as the metadata name them.
var otherKeys = []string{"pgp", "kms", "gcp_kms", "azure_kv", "hc_vault", "hckms"}

// takeMetadata removes the metadata from all documents, and returns those of the first with the node they were read from:
// that is what SOPS does.
func takeMetadata(documents []*yaml.Node) (*metadata, *yaml.Node, error) {
	var first *yaml.Node
	for i, document := range documents {
		if block := cut(document); i == 0 {
			first = block
		}
	}
	if first == nil {
		return nil, nil, ErrNotEncrypted
	}
	if first.Kind != yaml.MappingNode {
		return nil, nil, fmt.Errorf("line %d: the SOPS metadata are not a mapping", first.Line)
	}
	found := &metadata{}
	if err := first.Decode(found); err != nil {
		return nil, nil, fmt.Errorf("the SOPS metadata: %w", err)
	}
	if len(found.Age) > maxRecipients {
		return nil, nil, fmt.Errorf("the SOPS metadata name %d recipients, and may name %d", len(found.Age), maxRecipients)
	}
	return found, first, nil
}

// cut removes the metadata from a document and returns them, or nil. A comment that stands before them belongs to what is
// above.
func cut(document *yaml.Node) *yaml.Node {
	root := document.Content[0]
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value != metadataKey {
			continue
		}
		comment := joinComments(key.HeadComment, key.FootComment)
		if i > 0 {
			above := root.Content[i-2]
			above.FootComment = joinComments(above.FootComment, comment)
		} else {
			document.HeadComment = joinComments(document.HeadComment, comment)
		}
		root.Content = slices.Delete(root.Content, i, i+2)
		return value
	}
	return nil
}

// attach puts the metadata at the end of every document.
func attach(documents []*yaml.Node, block *yaml.Node) {
	for _, document := range documents {
		root := document.Content[0]
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: metadataKey}
		root.Content = append(root.Content, key, block)
	}
}

// node is the metadata as YAML.
func (m *metadata) node() (*yaml.Node, error) {
	var block yaml.Node
	err := block.Encode(m)
	return &block, err
}

// rule is which values are encrypted. Without any word of it in the file, it is the suffix that SOPS has always had.
func (m *metadata) rule() (*matcher, error) {
	return Rule{
		EncryptedRegex: m.EncryptedRegex, UnencryptedRegex: m.UnencryptedRegex,
		EncryptedSuffix: m.EncryptedSuffix, UnencryptedSuffix: m.UnencryptedSuffix,
		MACOnlyEncrypted: m.MACOnlyEncrypted,
	}.matcher()
}

// recipients are whom the file is encrypted for.
func (m *metadata) recipients() []string {
	var all []string
	for _, entry := range m.Age {
		all = append(all, entry.Recipient)
	}
	return all
}

// others are the other kinds of keys that the file is encrypted with.
func (m *metadata) others() []string {
	var kinds []string
	for _, kind := range otherKeys {
		if node, ok := m.Unsupported[kind]; ok && len(node.Content) > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// supported says what a file needs that is not here. Other kinds of keys beside age are no hindrance: each one alone
// decrypts the file.
func (m *metadata) supported() error {
	groups := m.Unsupported["key_groups"]
	switch {
	case len(m.Age) > 0:
	case len(m.others()) > 0:
		return &UnsupportedError{What: "a file that is encrypted by " + m.others()[0] + " and not by age"}
	case len(groups.Content) > 0:
		return &UnsupportedError{What: "a data key that is split between key groups"}
	default:
		return errors.New("the SOPS metadata name no keys")
	}
	for _, word := range []string{"encrypted_comment_regex", "unencrypted_comment_regex"} {
		if _, ok := m.Unsupported[word]; ok {
			return &UnsupportedError{What: word}
		}
	}
	return nil
}

// modified is what the checksum is bound to: the time, written in one way.
func (m *metadata) modified() (string, error) {
	moment, err := time.Parse(time.RFC3339, m.LastModified)
	if err != nil {
		return "", &TamperedError{Reason: fmt.Sprintf("lastmodified is %q and no time", m.LastModified)}
	}
	return moment.Format(time.RFC3339), nil
}

// field returns what is at a key of a mapping, or nil.
func field(mapping *yaml.Node, name string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// setField sets a text in a mapping, or adds it.
func setField(mapping *yaml.Node, name, text string) {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if found := field(mapping, name); found != nil {
		*found = *value
		return
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}
