// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the programs whose commands cannot be run by a test, and why. Nothing of ours is among them.
var elsewhere = map[string]string{
	"talosctl": "it wants machines",
	"kubectl":  "it wants a cluster that runs workloads, or one that is not there to be changed",
	"helm":     "it wants such a cluster, and a network",
	"docker":   "it wants images",
	"podman":   "it wants images",
	"crane":    "it wants a registry",
	"curl":     "it wants a network",
	"git":      "it wants a remote repository",
	"sops":     "it is somebody else's, and may not be installed",
	"make":     "it takes long; that its target exists is tested",
	"go":       "it takes long",
	"cd":       "it belongs to those beside it",
}

// released are further words of the page about releases: it is made by 'make release', which takes minutes, and a test of its own
// makes one and looks into it.
var released = []string{"sha256sum", "tar", "diff", "echo", "minos-v0.1.0-linux-amd64/minos"}

// written are the pages that people wrote. The others show examples of rules, which are executed where they come from.
func written(t *testing.T) map[string]string {
	t.Helper()
	all := pages(t)
	maps.DeleteFunc(all, func(path, _ string) bool {
		return strings.HasPrefix(path, "rules/") || strings.HasPrefix(path, "reference/")
	})
	return all
}

// TestWhatIsNotRun holds blocks that are not run to commands that cannot be.
func TestWhatIsNotRun(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, page := range written(t) {
		for _, b := range blocksOf(page) {
			if b.language != "console" {
				continue
			}
			for _, words := range commandsOf(b.text) {
				seen[words[0]] = true
				if elsewhere[words[0]] == "" && (path != "release.md" || !slices.Contains(released, words[0])) {
					t.Errorf("%s:%d: %s can be run here: make it a block of sh", path, b.line, words[0])
				}
				for _, target := range words[1:] {
					if words[0] == "make" && !strings.Contains(target, "=") && !strings.Contains(string(makefile), "\n"+target+":") {
						t.Errorf("%s:%d: there is no 'make %s'", path, b.line, target)
					}
				}
			}
		}
	}
	for _, program := range []string{"talosctl", "make", "curl"} {
		if !seen[program] {
			t.Errorf("no page has %s: this test has lost its object", program)
		}
	}
}

// TestEveryBlockHasALanguage wants no block that nobody runs and nobody compares, and no command in what is only compared.
func TestEveryBlockHasALanguage(t *testing.T) {
	for path, page := range written(t) {
		before := ""
		for _, b := range blocksOf(page) {
			if languages[b.language] == "" && b.language != "granted" {
				t.Errorf("%s:%d: a block of %q: say which of %v it is", path, b.line, b.language, languages)
			}
			if b.language == "text" && before != "sh" && command.MatchString(b.text) {
				t.Errorf("%s:%d: a command in a text that nothing prints: make it a block of sh", path, b.line)
			}
			before = b.language
		}
	}
}

var (
	command   = regexp.MustCompile(`(?m)^(\$|minos|bin/\S+|kubectl|make) [^▶]*$`)
	quoted    = regexp.MustCompile(`'[^']*'`)
	remark    = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	separator = regexp.MustCompile(`\n|\|+|&&|;|\$\(`)
)

// commandsOf are the commands of a block, as words: remarks, variables before a command, and what stands
// between single quotes, are no words of it.
func commandsOf(text string) (all [][]string) {
	text = strings.NewReplacer("\\\n", " ", `"`, "").Replace(quoted.ReplaceAllString(text, "''"))
	text = remark.ReplaceAllString(text, "")
	for _, part := range separator.Split(text, -1) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

func TestCommandsOf(t *testing.T) {
	got := commandsOf("A=1 make build kube   # both; twice\ncd x && talosctl \\\n  apply 'a; b' | minos check\ncurl \"$(minos image url x)\"\n")
	want := "make build kube,cd x,talosctl apply '',minos check,curl,minos image url x)"
	var joined []string
	for _, words := range got {
		joined = append(joined, strings.Join(words, " "))
	}
	if strings.Join(joined, ",") != want {
		t.Errorf("%q, want %s", joined, want)
	}
}
