// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// An encoded document is one together with its text. Writing YAML costs more than all the rest of rendering a host, and a
// host changes two or three documents of twenty: the text of the others is written once for a pool.
type encoded struct {
	document talosconfig.Document
	text     []byte
}

// encode writes one document, without comments.
func encode(document talosconfig.Document) (encoded, error) {
	text, err := encoder.NewEncoder(document, encoder.WithComments(encoder.CommentsDisabled)).Encode()
	if err != nil {
		return encoded{}, fmt.Errorf("write %s: %w", document.Kind(), err)
	}
	return encoded{document, text}, nil
}

// encodeAll writes every document of a configuration.
func encodeAll(provider config.Provider) ([]encoded, error) {
	var all []encoded
	for _, document := range provider.Documents() {
		one, err := encode(document)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// with lays one more layer over documents that are encoded already. Talos merges document by document, so only those of
// the kinds that the layer names can change.
func (l layer) with(shared []encoded, contract *config.VersionContract) ([]encoded, error) {
	kinds := l.kinds()
	var concerned []talosconfig.Document
	for _, one := range shared {
		if kinds[one.document.Kind()] {
			concerned = append(concerned, one.document)
		}
	}
	part, err := container.New(concerned...)
	if err != nil {
		return nil, fmt.Errorf("%s layer: %w", l.name, err)
	}
	merged, err := l.apply(part, contract)
	if err != nil {
		return nil, err
	}
	changed := map[string]talosconfig.Document{}
	for _, document := range merged.Documents() {
		changed[identity(document)] = document
	}
	return replace(shared, kinds, merged.Documents(), changed)
}

// replace puts changed documents in the places of the old ones, leaves out those that are gone, and appends new ones.
func replace(shared []encoded, kinds map[string]bool, order []talosconfig.Document, changed map[string]talosconfig.Document) ([]encoded, error) {
	var all []encoded
	for _, one := range shared {
		id := identity(one.document)
		document, ok := changed[id]
		switch {
		case !kinds[one.document.Kind()]:
			all = append(all, one)
		case ok:
			delete(changed, id)
			again, err := encode(document)
			if err != nil {
				return nil, err
			}
			all = append(all, again)
		}
	}
	for _, document := range order {
		if _, isNew := changed[identity(document)]; isNew {
			one, err := encode(document)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// kinds are the kinds of documents that a layer can change. The one without a kind is called by its version.
func (l layer) kinds() map[string]bool {
	kinds := map[string]bool{}
	for _, text := range l.texts() {
		var document struct {
			Kind string `json:"kind"`
		}
		_ = json.Unmarshal(text, &document) // apply will say what is wrong with it
		if document.Kind == "" {
			document.Kind = v1alpha1.Version
		}
		kinds[document.Kind] = true
	}
	return kinds
}

// identity tells one document from another.
func identity(document talosconfig.Document) string {
	if named, ok := document.(talosconfig.NamedDocument); ok {
		return document.Kind() + "/" + named.Name()
	}
	return document.Kind()
}

// finish judges a configuration by Talos's own validation and joins its documents.
func finish(all []encoded, how mode) ([]byte, error) {
	documents, texts := make([]talosconfig.Document, 0, len(all)), make([][]byte, 0, len(all))
	for _, one := range all {
		documents, texts = append(documents, one.document), append(texts, one.text)
	}
	whole, err := container.New(documents...)
	if err != nil {
		return nil, refused(err)
	}
	if _, err := whole.ValidateAsClient(how, validation.WithLocal()); err != nil {
		return nil, refused(err)
	}
	return bytes.Join(texts, []byte("---\n")), nil
}

// refused says on one line what Talos says over several.
func refused(err error) error {
	var reasons []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "* ")
		if line != "" && !strings.HasSuffix(line, "occurred:") { // its heading
			reasons = append(reasons, line)
		}
	}
	return fmt.Errorf("talos refuses the configuration: %s", strings.Join(reasons, "; "))
}
