// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The conventions of Kubernetes APIs, as far as they can be read off the source. The definitions are held to the rest
// in audit_test.go.

// apiField is one field of an API type.
type apiField struct {
	owner, name string
	tag         string // the json tag
	doc         string
	goType      string
	place       token.Position
}

// apiFields reads every field of every API type, but for embedded ones and those of lists.
func apiFields(t *testing.T) []apiField {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []apiField
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasPrefix(file, "zz_generated") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(node ast.Node) bool {
			if declared, ok := node.(*ast.TypeSpec); ok {
				found = append(found, fieldsOf(set, declared)...)
			}
			return true
		})
	}
	if len(found) < 100 {
		t.Fatalf("only %d fields found", len(found))
	}
	return found
}

// fieldsOf reads the fields of one type.
func fieldsOf(set *token.FileSet, declared *ast.TypeSpec) []apiField {
	structure, ok := declared.Type.(*ast.StructType)
	if !ok || strings.HasSuffix(declared.Name.Name, "List") {
		return nil
	}
	var found []apiField
	for _, field := range structure.Fields.List {
		if len(field.Names) == 0 || field.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(field.Tag.Value)
		found = append(found, apiField{
			owner: declared.Name.Name, name: field.Names[0].Name, tag: reflect.StructTag(text).Get("json"),
			doc: docText(field.Doc), goType: typeText(field.Type), place: set.Position(field.Pos()),
		})
	}
	return found
}

// docText is a comment with its markers, which the ast package's own Text leaves out.
func docText(group *ast.CommentGroup) string {
	if group == nil {
		return ""
	}
	var lines []string
	for _, comment := range group.List {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")))
	}
	return strings.Join(lines, "\n")
}

// typeText is a type as it is written.
func typeText(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.ArrayType:
		return "[]" + typeText(e.Elt)
	case *ast.MapType:
		return "map[" + typeText(e.Key) + "]" + typeText(e.Value)
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	}
	return fmt.Sprintf("%T", expression)
}

var lowerCamel = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func TestFieldsFollowTheConventions(t *testing.T) {
	for _, field := range apiFields(t) {
		name, options, _ := strings.Cut(field.tag, ",")
		if name == "-" {
			continue
		}
		for _, wrong := range field.wrong(name, options) {
			t.Errorf("%s: %s.%s %s", field.place, field.owner, field.name, wrong)
		}
	}
}

// wrong says which conventions a field breaks.
func (f apiField) wrong(name, options string) []string {
	var found []string
	say := func(broken bool, text string) {
		if broken {
			found = append(found, text)
		}
	}
	marker := func(m string) bool { return slices.Contains(strings.Split(f.doc, "\n"), m) }
	say(!lowerCamel.MatchString(name), "is not written in lower camel case")
	say(!strings.HasPrefix(f.doc, name+" "), "has a comment that does not begin with its name")
	say(marker("+required") == marker("+optional"), "must be either +required or +optional")
	say(options != "omitempty" && options != "omitzero", "must be left out when it is empty")
	say(regexp.MustCompile(`\b(int|uint|uint32|uint64|int8|int16|float32|float64|bool)\b`).MatchString(f.goType), "is of a type that APIs avoid: "+f.goType)
	say(strings.Contains(f.goType, "Duration"), "is a duration: use seconds in an int32")
	say(strings.Contains(strings.ToLower(name), "timeout") && !strings.HasSuffix(name, "Seconds"), "is a time and does not name its unit")
	say(strings.HasPrefix(f.goType, "[]") && !strings.Contains(f.doc, "+listType="), "is a list and does not say of which kind")
	say(strings.HasPrefix(f.goType, "map[") && !strings.HasPrefix(f.goType, "map[string]"), "is a map with other keys than words")
	return found
}

// TestConditionsComeFirst holds every status to beginning with its conditions.
func TestConditionsComeFirst(t *testing.T) {
	seen := map[string]bool{}
	for _, field := range apiFields(t) {
		if strings.HasSuffix(field.owner, "Status") && !seen[field.owner] {
			seen[field.owner] = true
			if field.name != "Conditions" {
				t.Errorf("%s begins with %s", field.owner, field.name)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v have a status", seen)
	}
}
