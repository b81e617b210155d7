// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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

// over lays the layer of one machine over what its pool shares. Talos merges document by document, so only those of the
// kinds that the layer names can change; and what a layer says of a kind is often the same for many machines, so what comes
// of it is kept.
func (p *Pool) over(own layer) ([]encoded, error) {
	changed := map[string][]encoded{}
	var order []string
	for kind, part := range own.byKind() {
		merged, err := p.merged(kind, part)
		if err != nil {
			return nil, err
		}
		changed[kind], order = merged, append(order, kind)
	}
	slices.Sort(order) // Go's maps have none
	var all []encoded
	kept := map[string]bool{}
	for _, one := range p.shared {
		merged, concerned := changed[one.document.Kind()]
		if !concerned {
			all = append(all, one)
			continue
		}
		id := identity(one.document)
		if i := slices.IndexFunc(merged, func(e encoded) bool { return identity(e.document) == id }); i >= 0 {
			all = append(all, merged[i])
			kept[id] = true
		}
	}
	for _, kind := range order {
		for _, one := range changed[kind] {
			if !kept[identity(one.document)] {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// merged are the documents of a kind with a layer over them.
func (p *Pool) merged(kind string, part layer) ([]encoded, error) {
	key := kind + "\n" + string(bytes.Join(part.texts(), []byte("\n")))
	if known, ok := p.known[key]; ok {
		return known, nil
	}
	var concerned []talosconfig.Document
	for _, one := range p.shared {
		if one.document.Kind() == kind {
			concerned = append(concerned, one.document)
		}
	}
	base, err := container.New(concerned...)
	if err != nil {
		return nil, fmt.Errorf("%s layer: %w", part.name, err)
	}
	provider, err := part.apply(base, p.contract)
	if err != nil {
		return nil, err
	}
	all, err := encodeAll(provider)
	if err == nil {
		p.known[key] = all
	}
	return all, err
}

// byKind takes a layer apart by the kinds of documents that it changes. The one without a kind is called by its version.
func (l layer) byKind() map[string]layer {
	parts := map[string]layer{}
	for i, text := range l.texts() {
		var document struct {
			Kind string `json:"kind"`
		}
		_ = json.Unmarshal(text, &document) // apply will say what is wrong with it
		kind := cmp.Or(document.Kind, v1alpha1.Version)
		part := parts[kind]
		part.name = l.name
		if i < len(l.set) {
			part.set = append(part.set, l.set[i])
		} else {
			part.patches = append(part.patches, l.patches[i-len(l.set)])
			part.numbers = append(part.numbers, i-len(l.set))
		}
		parts[kind] = part
	}
	return parts
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
