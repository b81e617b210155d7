// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/schema"
)

// pages returns every page of the documentation, by its path from here.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"../README.md", "../CONTRIBUTING.md"}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[path] = string(text)
	}
	return found
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestExamplesAreValid holds every declaration that the documentation shows to the rules.
func TestExamplesAreValid(t *testing.T) {
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for path, text := range pages(t) {
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			documents, problems := reader.Read(path, []byte(block[1]))
			for _, problem := range problems {
				t.Error(problem)
			}
			shown += len(documents)
		}
	}
	if shown < 7 {
		t.Errorf("only %d declarations are shown", shown)
	}
}

// TestLinksLeadSomewhere follows every link within the repository, to the very heading.
func TestLinksLeadSomewhere(t *testing.T) {
	for path, text := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if problem := astray(path, found[1]); problem != "" {
				t.Errorf("%s: %s", path, problem)
			}
		}
	}
}

// TestEveryKindHasItsPages holds every kind to a page of its own and a generated one, both in reach of the index.
func TestEveryKindHasItsPages(t *testing.T) {
	kinds, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	found := pages(t)
	for _, name := range kinds.Names() {
		page := "kinds/" + strings.ToLower(name) + ".md"
		if !strings.Contains(found[page], "../reference/"+strings.ToLower(name)+".md") {
			t.Errorf("%s has no page that leads to its reference", name)
		}
		if !strings.Contains(found["README.md"], page) {
			t.Errorf("the index does not lead to %s", page)
		}
	}
}

// TestWordsAreExplained holds pages to the code: the constants of a file, as far as they match, occur on the page about them.
func TestWordsAreExplained(t *testing.T) {
	for _, test := range []struct {
		page, file, constant string
		least                int
	}{
		{"backend.md", "../backend/error.go", ` Reason = "(\w+)"`, 8},
		{"backend.md", "../backend/place.go", ` State = "(\w+)"`, 5},
		{"backend.md", "../backend/place.go", `(?m)^\t(\w+)\((?:ctx.*|)\) `, 5},
		{"sim/cloud.md", "../backend/sim/wire.go", `Code\w+ += "(\w+)"`, 8},
		{"sim/kamaji.md", "../sim/kamaji/faults.go", `(?m)^\t([A-Z]\w+) +(?:bool|time.Duration)`, 4},
	} {
		page, err := os.ReadFile(test.page)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(test.constant).FindAllStringSubmatch(string(source), -1)
		if len(found) < test.least {
			t.Errorf("%s has only %d of %s", test.file, len(found), test.constant)
		}
		for _, word := range found {
			if !regexp.MustCompile("`" + word[1] + `\b`).Match(page) {
				t.Errorf("%s does not explain `%s`", test.page, word[1])
			}
		}
	}
}
