// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"minos.dev/minos/check/facts"
)

// TestEveryNoteIsExplained reads the constants from the source, since a note without a meaning is taken for a slip of the pen.
func TestEveryNoteIsExplained(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "note.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ast.Inspect(file, func(node ast.Node) bool {
		value, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(value.Names[0].Name, "Note") {
			return true
		}
		text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		count++
		if facts.Note(text).Meaning() == "" {
			t.Errorf("the note %s has no meaning", text)
		}
		return true
	})
	if count != len(facts.Notes()) {
		t.Errorf("there are %d notes, and %d with a meaning", count, len(facts.Notes()))
	}
}
