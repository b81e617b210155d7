// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// symptom is the first cell of a line that begins with words of the program; spoken are those words.
var (
	symptom = regexp.MustCompile("(?m)^\\| (`[^|]+) \\|.+\\|.+\\|$")
	spoken  = regexp.MustCompile("`([^`]+)`")
)

// symptoms is how many messages are explained at least.
const symptoms = 70

// TestSymptoms holds every message that the page explains to being one: its words stand in one text of a program, in this order.
func TestSymptoms(t *testing.T) {
	page, err := os.ReadFile("troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	texts, found := texts(t), 0
	for _, row := range symptom.FindAllStringSubmatch(string(page), -1) {
		for _, quote := range spoken.FindAllStringSubmatch(row[1], -1) {
			found++
			if !said(texts, quote[1]) {
				t.Errorf("nobody says %q", quote[1])
			}
		}
	}
	if found < symptoms {
		t.Errorf("%d messages are explained, and there were %d", found, symptoms)
	}
}

// TestSymptomsWouldNotice looks for what nobody says.
func TestSymptomsWouldNotice(t *testing.T) {
	texts := []string{"NodePool %s has %d machines", "delete them first"}
	for quote, want := range map[string]bool{
		"NodePool … has …": true, "has … machines": true, "delete them first": true,
		"machines has": false, "NodePool … delete": false, "delete them": true, "… machines … has": false, "…": false,
	} {
		if said(texts, quote) != want {
			t.Errorf("%q: %t", quote, !want)
		}
	}
}

// said says whether the parts of a quote occur in one text, one after the other.
func said(texts []string, quote string) bool {
	for _, text := range texts {
		rest, ok := text, strings.Trim(quote, "… ") != ""
		for part := range strings.SplitSeq(quote, "…") {
			_, after, has := strings.Cut(rest, strings.TrimSpace(part))
			rest, ok = after, ok && has
		}
		if ok {
			return true
		}
	}
	return false
}

// texts are those of all programs: every text in their source.
func texts(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "bin" || entry.Name() == "docs" || entry.Name() == ".git" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					all = append(all, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
