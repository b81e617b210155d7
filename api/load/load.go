// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	k8syaml "sigs.k8s.io/yaml"

	"minos.dev/minos/api/nearest"
	"minos.dev/minos/api/schema"
	api "minos.dev/minos/api/v1alpha1"
)

// An Object is an object of one of our kinds.
type Object interface {
	runtime.Object
	metav1.Object
}

// A Document is one object and where it stands.
type Document struct {
	// File is the name of the file, as it was given.
	File string
	// Kind is the definition of the object's kind.
	Kind *schema.Kind
	// Object is the object, with defaults filled in. An object of a namespaced kind that names no namespace is in
	// "default", as it would be for kubectl.
	Object Object

	content map[string]any
	root    *yaml.Node
	before  int
}

// Reader reads documents.
type Reader struct {
	kinds  schema.Kinds
	scheme *runtime.Scheme
}

// NewReader prepares to read documents of all our kinds.
func NewReader() (*Reader, error) {
	kinds, err := schema.Load()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return &Reader{kinds: kinds, scheme: scheme}, nil
}

// Read returns the documents of a file that are of our kinds and valid, and what is wrong with the others.
func (r *Reader) Read(file string, text []byte) ([]*Document, []Problem) {
	var documents []*Document
	var problems []Problem
	for _, part := range split(text) {
		document, wrong := r.readOne(file, part)
		problems = append(problems, wrong...)
		if document != nil && len(wrong) == 0 {
			documents = append(documents, document)
		}
	}
	return documents, problems
}

// Change holds the change from an old document to a new one to the rules about changes: what cannot change, did not.
func Change(old, changed *Document) []Problem {
	return changed.problems(changed.Kind.Validate(changed.content, old.content))
}

// readOne reads one document. It answers nil, without a problem, for what is not ours.
func (r *Reader) readOne(file string, part chunk) (*Document, []Problem) {
	var tree yaml.Node
	if err := yaml.Unmarshal(part.text, &tree); err != nil {
		return nil, []Problem{syntaxProblem(file, part, err)}
	}
	if len(tree.Content) == 0 || resolve(tree.Content[0]).Kind != yaml.MappingNode {
		return nil, nil
	}
	document := &Document{File: file, root: resolve(tree.Content[0]), before: part.before}
	ours, problem := document.identify(r.kinds)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	if !ours {
		return nil, nil
	}
	// The values are read as kubectl reads them, so that a file means the same here and there.
	content, err := k8syaml.YAMLToJSONStrict(part.text)
	if err != nil {
		return nil, []Problem{syntaxProblem(file, part, err)}
	}
	if err := utiljson.Unmarshal(content, &document.content); err != nil {
		return nil, []Problem{syntaxProblem(file, part, err)}
	}
	if problems := document.validate(); len(problems) > 0 {
		return nil, problems
	}
	if err := document.decode(r.scheme); err != nil {
		return nil, []Problem{document.Problem("", err.Error())}
	}
	return document, nil
}

// identify finds the definition of the document's kind, and says whether the document is ours at all.
func (d *Document) identify(kinds schema.Kinds) (ours bool, problem *Problem) {
	version, kind := d.scalar("apiVersion"), d.scalar("kind")
	group, _, _ := strings.Cut(version, "/")
	if group != api.Group {
		if near := nearest.Of(group, []string{api.Group}); near != "" && slices.Contains(kinds.Names(), kind) {
			p := d.Problem("apiVersion", fmt.Sprintf("%q: did you mean %s?", version, strings.Replace(version, group, near, 1)))
			return false, &p
		}
		return false, nil
	}
	if version != api.GroupVersion.String() {
		p := d.Problem("apiVersion", fmt.Sprintf("%q: this release of Minos knows %s", version, api.GroupVersion))
		return true, &p
	}
	if d.Kind = kinds[kind]; d.Kind == nil {
		p := d.Problem("kind", fmt.Sprintf("%q: there is no such kind in %s%s", kind, version, nearest.Hint(kind, kinds.Names())))
		return true, &p
	}
	return true, nil
}

// scalar returns a top-level value of the document as it is written.
func (d *Document) scalar(key string) string {
	if _, value := child(d.root, key); value != nil {
		return resolve(value).Value
	}
	return ""
}

// validate fills in defaults and holds the document to its definition. An unknown field is reported alone: what the
// definition says of the rest would often be a consequence of it.
func (d *Document) validate() []Problem {
	if unknown := d.unknownFields(d.Kind.Fields); len(unknown) > 0 {
		return unknown
	}
	if problems := d.validateMetadata(); len(problems) > 0 {
		return problems
	}
	d.Kind.Default(d.content)
	return d.problems(d.Kind.Validate(d.content, nil))
}

// validateMetadata checks what the API server checks of every object's metadata.
func (d *Document) validateMetadata() []Problem {
	metadata, ok := d.content["metadata"].(map[string]any)
	if !ok {
		return []Problem{d.Problem("metadata", "must be set: an object needs a name")}
	}
	name, _ := metadata["name"].(string)
	if name == "" {
		return []Problem{d.Problem("metadata.name", "must be set")}
	}
	var problems []Problem
	for _, text := range apivalidation.NameIsDNSSubdomain(name, false) {
		problems = append(problems, d.Problem("metadata.name", fmt.Sprintf("%q: %s", name, text)))
	}
	_, namespaced := metadata["namespace"]
	switch {
	case namespaced && !d.Kind.Namespaced:
		problems = append(problems, d.Problem("metadata.namespace", fmt.Sprintf("a %s belongs to no namespace: remove it", d.Kind.Name)))
	case !namespaced && d.Kind.Namespaced:
		metadata["namespace"] = metav1.NamespaceDefault
	}
	return problems
}

// decode makes the typed object of the validated content.
func (d *Document) decode(scheme *runtime.Scheme) error {
	object, err := scheme.New(api.GroupVersion.WithKind(d.Kind.Name))
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.content, object); err != nil {
		return err
	}
	typed, ok := object.(Object)
	if !ok {
		return fmt.Errorf("%s has no metadata", d.Kind.Name)
	}
	d.Object = typed
	return nil
}
