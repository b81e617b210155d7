// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"minos.dev/minos/api/schema"
)

// kindPage is the page of one kind: what it is, how to list it, and every field.
func kindPage(kind *schema.Kind) []byte {
	var page bytes.Buffer
	definition := kind.Definition.Spec
	version := definition.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(&page, "# %s\n\n<!-- Generated from api/v1alpha1 by 'make generate'. -->\n\n%s\n\n", kind.Name, sentence(root.Description))
	fmt.Fprintf(&page, "| | |\n|---|---|\n| API version | `%s/%s` |\n", definition.Group, version.Name)
	fmt.Fprintf(&page, "| kubectl | `kubectl get %s`, short `%s` |\n", definition.Names.Plural, strings.Join(definition.Names.ShortNames, ", "))
	fmt.Fprintf(&page, "| scope | %s |\n", scope(kind))
	if version.Subresources != nil && version.Subresources.Scale != nil {
		fmt.Fprintf(&page, "| scale | `kubectl scale %s NAME --replicas N` |\n", strings.ToLower(kind.Name))
	}
	for _, rule := range root.XValidations {
		fmt.Fprintf(&page, "| rule | %s |\n", cell(rule.Message))
	}
	for _, part := range []string{"spec", "status"} {
		if props, ok := root.Properties[part]; ok {
			fmt.Fprintf(&page, "\n## %s\n\n| field | type | what it is |\n|---|---|---|\n", part)
			rules(&page, part, &props)
			rows(&page, part, &props)
		}
	}
	return page.Bytes()
}

// scope says where objects live.
func scope(kind *schema.Kind) string {
	if kind.Namespaced {
		return "in a namespace"
	}
	return "in no namespace"
}

// rows writes a row for every field, and below it those of what it holds.
func rows(page *bytes.Buffer, path string, holder *apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(holder.Properties)) {
		field := holder.Properties[name]
		here := path + "." + name
		if strings.HasSuffix(here, ".conditions") {
			fmt.Fprintf(page, "| `%s` | list | %s See [conditions](conditions.md). |\n", here, cell(field.Description))
			continue
		}
		fmt.Fprintf(page, "| `%s` | %s | %s%s |\n", here, typeOf(&field), needed(holder, name), cell(field.Description))
		rules(page, here, &field)
		rows(page, here, &field)
		if field.Items != nil && field.Items.Schema != nil {
			rules(page, here+"[]", field.Items.Schema)
			rows(page, here+"[]", field.Items.Schema)
		}
	}
}

// rules writes a row for every rule that a field is held to.
func rules(page *bytes.Buffer, path string, field *apiextensionsv1.JSONSchemaProps) {
	for _, rule := range field.XValidations {
		fmt.Fprintf(page, "| `%s` | rule | %s |\n", path, cell(rule.Message))
	}
}

// needed marks a field that must be set.
func needed(holder *apiextensionsv1.JSONSchemaProps, name string) string {
	if slices.Contains(holder.Required, name) {
		return "**Required.** "
	}
	return ""
}

// typeOf is the type of a field in words, with its bounds.
func typeOf(field *apiextensionsv1.JSONSchemaProps) string {
	words := field.Type
	switch {
	case field.XIntOrString:
		words = "number or text"
	case len(field.Enum) > 0:
		var values []string
		for _, value := range field.Enum {
			values = append(values, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
		words = strings.Join(values, ", ")
	case field.Type == "array":
		words = "list"
	case field.AdditionalProperties != nil:
		words = "map"
	case field.Type == "string":
		words = "text"
	case field.Type == "integer":
		words = "number"
	}
	if field.Minimum != nil && field.Maximum != nil {
		words += fmt.Sprintf(", %.0f to %.0f", *field.Minimum, *field.Maximum)
	}
	if field.Default != nil {
		words += fmt.Sprintf(", default `%s`", strings.Trim(string(field.Default.Raw), `"`))
	}
	return words
}

// cell is a text that fits into a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(sentence(text), "|", "\\|")
}

// sentence is a text without the line breaks of its source.
func sentence(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
