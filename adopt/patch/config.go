// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v3"
)

// A Config is a machine configuration. It never changes: what changes it returns another.
type Config struct {
	provider  config.Provider
	text      []byte
	documents []Document
}

// Of takes a configuration as Talos's libraries have it.
func Of(provider config.Provider) (*Config, error) {
	text, err := provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	documents, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("read the configuration again: %w", err)
	}
	return &Config{provider: provider, text: text, documents: documents}, nil
}

// Load reads a configuration. What comes out is as Talos writes it, whatever the style it was read in: two configurations
// that mean the same to Talos's encoder have the same documents.
func Load(text []byte) (*Config, error) {
	provider, err := configloader.NewFromBytes(text)
	if err != nil {
		return nil, err
	}
	return Of(provider)
}

// From is the configuration that documents make.
func From(documents []Document) (*Config, error) {
	text, err := Encode(documents)
	if err != nil {
		return nil, err
	}
	return Load(text)
}

// Text is the configuration as YAML.
func (c *Config) Text() []byte { return slices.Clone(c.text) }

// Documents are the documents of the configuration. The caller may change them.
func (c *Config) Documents() []Document { return Clone(c.documents) }

// Document returns the first document of a kind, which is empty for the one old document; nil if there is none.
func (c *Config) Document(kind string) Document {
	for _, document := range c.documents {
		if found, _ := document["kind"].(string); found == kind {
			return Clone(document)
		}
	}
	return nil
}

// V1Alpha1 is the one old document with the names of Go, as templates use them.
func (c *Config) V1Alpha1() *v1alpha1.Config { return c.provider.RawV1Alpha1() }

// Apply changes a configuration by patches as texts, each strategic or a list of operations by RFC 6902.
func (c *Config) Apply(patches ...[]byte) (*Config, error) {
	loaded := make([]configpatcher.Patch, 0, len(patches))
	for _, text := range patches {
		patch, err := configpatcher.LoadPatch(text)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, patch)
	}
	output, err := configpatcher.Apply(configpatcher.WithConfig(c.provider), loaded)
	if err != nil {
		return nil, err
	}
	provider, err := output.Config()
	if err != nil {
		return nil, err
	}
	return Of(provider)
}

// Merge changes a configuration by strategic patches, each of its own: one patch cannot hold a document twice.
func (c *Config) Merge(documents ...Document) (*Config, error) {
	texts := make([][]byte, 0, len(documents))
	for _, document := range documents {
		text, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return c.Apply(texts...)
}

// Equal says whether two configurations are the same but for the order of their documents.
func (c *Config) Equal(other *Config) bool {
	return reflect.DeepEqual(byID(c.documents), byID(other.documents))
}

// byID indexes documents.
func byID(documents []Document) map[string]Document {
	index := make(map[string]Document, len(documents))
	for _, document := range documents {
		index[ID(document)] = document
	}
	return index
}

// Encode writes documents as YAML.
func Encode(documents []Document) ([]byte, error) {
	var text []byte
	for i, document := range documents {
		one, err := yaml.Marshal(document)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", ID(document), err)
		}
		if i > 0 {
			text = append(text, "---\n"...)
		}
		text = append(text, one...)
	}
	return text, nil
}
