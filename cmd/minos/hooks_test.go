// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// called is how hooks and pipelines call the check.
var called = regexp.MustCompile(`minos (check[^|>&#"\n` + "`" + `]*)`)

// TestHooksCallWhatExists holds the hook and the pipelines that we offer to the flags that there are, and to being YAML.
func TestHooksCallWhatExists(t *testing.T) {
	files := []string{"../../.pre-commit-hooks.yaml"}
	more, err := filepath.Glob("../../docs/check/*.yaml")
	if err != nil || len(more) < 2 {
		t.Fatalf("%v: %v", more, err)
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var parsed any
		if err := yaml.Unmarshal(text, &parsed); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		calls := 0
		for _, line := range called.FindAllStringSubmatch(string(text), -1) {
			if words := strings.Fields(line[1]); len(words) > 1 && !strings.HasPrefix(words[1], "(") {
				calls++
				if err := tryExample(root(), "minos check", words); err != nil {
					t.Errorf("%s: %s: %v", file, line[0], err)
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s does not call the check", file)
		}
	}
}
