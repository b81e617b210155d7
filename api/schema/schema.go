// SPDX-License-Identifier: Apache-2.0

// Package schema evaluates the generated definitions of our kinds without an API server: the same schema, the same
// CEL, the same defaults, by the API server's own library. A file in a folder is thereby held to the very rules that a
// management cluster would hold it to.
package schema

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/charts"
)

// Kinds is the definitions of all kinds, by the name of the kind.
type Kinds map[string]*Kind

// A Kind is one definition, ready to be evaluated.
type Kind struct {
	// Name is the name of the kind, for example NodePool.
	Name string
	// Namespaced says whether its objects live in a namespace.
	Namespaced bool
	// Definition is the definition itself, as an API server takes it.
	Definition *apiextensionsv1.CustomResourceDefinition
	// Fields is the tree of known fields.
	Fields *structural.Structural

	validator validation.SchemaValidator
	rules     func() *cel.Validator
}

// Load compiles the definitions that this program was built with.
func Load() (Kinds, error) {
	kinds := Kinds{}
	err := fs.WalkDir(charts.CRDs, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := charts.CRDs.ReadFile(path)
		if err != nil {
			return err
		}
		kind, err := compile(text)
		if err != nil {
			return fmt.Errorf("definition %s: %w", path, err)
		}
		kinds[kind.Name] = kind
		return nil
	})
	return kinds, err
}

// Names returns the names of the kinds, sorted.
func (k Kinds) Names() []string {
	return slices.Sorted(maps.Keys(k))
}

// compile reads one definition and prepares what evaluates it.
func compile(text []byte) (*Kind, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, definition); err != nil {
		return nil, err
	}
	if n := len(definition.Spec.Versions); n != 1 {
		return nil, fmt.Errorf("it has %d versions and this code expects one", n)
	}
	props := &apiextensions.JSONSchemaProps{}
	source := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(source, props, nil); err != nil {
		return nil, err
	}
	fields, err := structural.NewStructural(props)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	return &Kind{
		Name:       definition.Spec.Names.Kind,
		Namespaced: definition.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Definition: definition,
		Fields:     fields,
		validator:  validator,
		// Compiling the rules takes longer than all the rest, and most runs meet a few kinds only.
		rules: sync.OnceValue(func() *cel.Validator { return cel.NewValidator(fields, true, celconfig.PerCallLimit) }),
	}, nil
}

// Default fills in the defaults that the definition declares.
func (k *Kind) Default(object map[string]any) {
	defaulting.Default(object, k.Fields)
}

// Validate holds an object to the definition. With an old object, which may be nil, it also holds the change from one
// to the other. Like the API server, it evaluates CEL only over objects of the right shape.
func (k *Kind) Validate(object, old map[string]any) field.ErrorList {
	var problems field.ErrorList
	if old == nil {
		problems = validation.ValidateCustomResource(nil, object, k.validator)
	} else {
		problems = validation.ValidateCustomResourceUpdate(nil, object, old, k.validator)
	}
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, k.Fields, object)...)
	rules := k.rules()
	if len(problems) > 0 || rules == nil {
		return problems
	}
	var before any
	if old != nil {
		before = old
	}
	// The library takes a context only to be able to stop early; evaluation is pure and bounded by its cost budget.
	problems, _ = rules.Validate(context.Background(), nil, k.Fields, object, before, celconfig.RuntimeCELCostBudget)
	return problems
}
