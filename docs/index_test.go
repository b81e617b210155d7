// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/cli/scaffold"
)

// TestTheIndexLeadsEverywhere wants every page to be in reach: from the index, or from a page of the same folder, as those of a kind.
func TestTheIndexLeadsEverywhere(t *testing.T) {
	all := pages(t)
	for path := range all {
		folder := filepath.Dir(path)
		beside := all[filepath.Join(folder, "README.md")]
		switch {
		case path == "README.md" || strings.HasPrefix(path, "..") || folder == "reference" || folder == "rules":
		case !strings.Contains(all["README.md"], "("+path+")") && !strings.Contains(beside, "("+filepath.Base(path)+")") && folder != "designs":
			t.Errorf("the index does not lead to %s", path)
		}
	}
}

// TestDrawingsAreWellFormed holds what is drawn by hand to XML, and to both schemes of colour.
func TestDrawingsAreWellFormed(t *testing.T) {
	drawings, err := filepath.Glob("img/*.svg")
	if err != nil || len(drawings) == 0 {
		t.Fatalf("%v: %v", drawings, err)
	}
	for _, drawing := range drawings {
		text, err := os.ReadFile(drawing)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "prefers-color-scheme: dark") {
			t.Errorf("%s is for light screens only", drawing)
		}
		reader := xml.NewDecoder(strings.NewReader(string(text)))
		for err == nil {
			_, err = reader.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", drawing, err)
		}
	}
}

// TestTheTutorialNamesEveryStorage holds the table of decisions to what can be answered.
func TestTheTutorialNamesEveryStorage(t *testing.T) {
	page := pages(t)["tutorial-homelab.md"]
	named := 0
	for _, question := range scaffold.Questions() {
		if question.Name != "storage" {
			continue
		}
		for _, option := range question.Options {
			named++
			if !strings.Contains(page, "`"+option+"`") {
				t.Errorf("the page does not name the storage %s", option)
			}
		}
	}
	if named < 5 {
		t.Errorf("only %d storages can be answered", named)
	}
}
