// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"bytes"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/image"
)

// A SchematicFact is a schematic: of a role that a pool has, or found as a file.
type SchematicFact struct {
	// Place is where it stands: the file, or the pool.
	Place Place
	// Role is the role that it follows from; nil if it was found as a file.
	Role *api.NodeRole
	// TalosVersion is the version of images that are made with it; empty if that is not known.
	TalosVersion api.TalosVersion
	// Document is the file's; nil if it follows from a role.
	Document *Document
	// Content is what it says; nil if the factory would not read it, and then Error says why.
	Content *schematic.Schematic
	Error   error
	// ID is its identity.
	ID string

	pool *Pool // the pool whose image it is for; nil if it was found as a file
}

// Extensions are its system extensions by name, without prefix, in its own order.
func (s *SchematicFact) Extensions() []string {
	var names []string
	if s.Content != nil {
		for _, name := range s.Content.Customization.SystemExtensions.OfficialExtensions {
			names = append(names, strings.TrimPrefix(name, extension.Prefix))
		}
	}
	return names
}

// RoleName is the role that it is of: the declared one, or the name of its file.
func (s *SchematicFact) RoleName() string {
	if s.Role != nil {
		return s.Role.Name
	}
	return strings.TrimSuffix(s.Document.File.Base(), s.Document.File.Extension())
}

// identify computes the identity.
func (s *SchematicFact) identify() {
	if s.Content != nil && s.Error == nil {
		s.ID, s.Error = s.Content.ID()
	}
}

// Free says whether nothing in the folder names a schematic that was found as a file. Another text of it, even in another order, has
// another identity: where one is named, changing the text would take the image away from under the name.
func (f *Facts) Free(s *SchematicFact) bool {
	if s.Document == nil || len(s.Document.File.Documents) != 1 {
		return false
	}
	return s.ID == "" || !slices.ContainsFunc(f.Files, func(file *File) bool { return bytes.Contains(file.Text, []byte(s.ID)) })
}

// schematicOf is the schematic of a role.
func schematicOf(role *api.NodeRole, version api.TalosVersion, place Place) *SchematicFact {
	fact := &SchematicFact{Place: place, Role: role, TalosVersion: version}
	fact.Content, fact.Error = image.Schematic(role, schematic.Schematic{})
	fact.identify()
	return fact
}

// A ProfileFact is a profile of the imager, found as a file.
type ProfileFact struct {
	// Document is where it stands.
	Document *Document
	// Content is what it says.
	Content image.Profile
}

// isSchematic says whether a document looks like a schematic.
func isSchematic(document *Document) bool {
	if document.Kind() != "" || document.Get("version") != nil {
		return false
	}
	customization, overlay := document.Map("customization"), document.Map("overlay")
	return customization != nil && document.Get("arch") == nil || overlay != nil && overlay["image"] != nil
}

// isProfile says whether a document looks like a profile of the imager.
func isProfile(document *Document) bool {
	return document.Kind() == "" && document.Get("output.kind") != nil && (document.Get("arch") != nil || document.Get("platform") != nil || document.Get("baseProfileName") != nil)
}

// schematic reads a schematic that was found as a file.
func (r *reader) schematic(document *Document) {
	fact := &SchematicFact{Place: r.facts.InDocument(document, ""), Document: document}
	text, err := yaml.Marshal(document.Body)
	if err == nil {
		fact.Content, err = schematic.Unmarshal(text)
	}
	fact.Error = err
	// The order of the file decides the identity, and a map has none: fields have a fixed one, and lists keep theirs.
	fact.identify()
	r.facts.Schematics = append(r.facts.Schematics, fact)
}

// profile reads a profile that was found as a file.
func (r *reader) profile(document *Document) {
	fact := &ProfileFact{Document: document}
	if err := document.node.Decode(&fact.Content); err == nil {
		r.facts.Profiles = append(r.facts.Profiles, fact)
	}
}
