// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// conditionsPage is the page of conditions and reasons, read from the constants and their comments.
func conditionsPage(source string) ([]byte, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	page.WriteString("# Conditions and reasons\n\n<!-- Generated from api/v1alpha1 by 'make generate'. -->\n\n")
	page.WriteString("Every kind with a status has the condition `Ready`, which rolls up others. The first of its parts that is not true\ngives it its reason and message.\n")
	for _, declaration := range tree.Decls {
		constants, ok := declaration.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n", heading(constants))
		page.WriteString("| value | meaning |\n|---|---|\n")
		for _, specification := range constants.Specs {
			if err := constantRow(&page, specification, constants.Doc); err != nil {
				return nil, err
			}
		}
	}
	return page.Bytes(), nil
}

// heading is what a group of constants is about.
func heading(constants *ast.GenDecl) string {
	if !constants.Lparen.IsValid() {
		return "On every kind"
	}
	title, _, _ := strings.Cut(constants.Doc.Text(), "\n")
	title, _, _ = strings.Cut(title, ":")
	return strings.TrimSuffix(title, ".")
}

// constantRow writes one constant. One without a comment is a mistake: nobody could look up what it means.
func constantRow(page *bytes.Buffer, specification ast.Spec, group *ast.CommentGroup) error {
	constant, ok := specification.(*ast.ValueSpec)
	if !ok {
		return nil
	}
	doc := constant.Doc
	if doc == nil {
		doc = group
	}
	name := constant.Names[0].Name
	value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimPrefix(sentence(doc.Text()), name)
	text = strings.TrimSpace(strings.TrimPrefix(text, ":"))
	if text == "" {
		return fmt.Errorf("%s has no comment that says what it means", name)
	}
	fmt.Fprintf(page, "| `%s` | %s |\n", value, cell(strings.ToUpper(text[:1])+text[1:]))
	return nil
}
