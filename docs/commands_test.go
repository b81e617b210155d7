// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Outputs that have changed are written by: go test ./docs -run TestCommands -update. Read the difference as behaviour.
var update = flag.Bool("update", false, "write what commands print into the pages, where it is not what stands there")

// TestCommands types the commands of every page, in its order, and compares what they print with what the page says.
func TestCommands(t *testing.T) {
	all := written(t)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		page := all[path]
		if !hasCommands(page) || strings.Contains(page, withDev) || path == tutorial {
			continue
		}
		t.Run(strings.TrimPrefix(path, "../"), func(t *testing.T) {
			t.Parallel()
			typePage(t, newSession(t), path, page)
		})
	}
}

// Pages about a management cluster have this remark. They are typed while the 'minos dev' of the tutorial runs.
const (
	withDev  = "<!-- with minos dev -->"
	tutorial = "tutorial-tenant.md"
)

// TestCommandsOfTenants types the tutorial for tenants, and while what it started still runs, the other pages that need a
// management cluster, one after the other.
func TestCommandsOfTenants(t *testing.T) {
	t.Parallel()
	all := written(t)
	first := newSession(t)
	if !t.Run(tutorial, func(t *testing.T) { typePage(t, first, tutorial, all[tutorial]) }) {
		return
	}
	if len(first.stays) == 0 { // another page was asked for by its name
		typePage(t, first, tutorial, untilItStays(all[tutorial]))
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if page := all[path]; strings.Contains(page, withDev) {
			t.Run(path, func(t *testing.T) {
				s := newSession(t)
				if err := os.Symlink(filepath.Join(first.home(), ".cache"), filepath.Join(s.home(), ".cache")); err != nil {
					t.Fatal(err)
				}
				typePage(t, s, path, page)
			})
		}
	}
}

// untilItStays is a page as far as the first command that stays, and what that prints.
func untilItStays(page string) string {
	blocks := blocksOf(page)
	for i, b := range blocks {
		if _, stays := b.ends(); stays {
			return page[:blocks[i+2].start]
		}
	}
	return page
}

func hasCommands(page string) bool {
	return slices.ContainsFunc(blocksOf(page), func(b block) bool { return b.language == "sh" })
}

// typePage types the commands of one page.
func typePage(t *testing.T, s *session, path, page string) {
	t.Helper()
	blocks := blocksOf(page)
	changed := page
	for i, b := range blocks {
		if b.language != "sh" && b.language != "granted" {
			continue
		}
		shown := block{text: "…\n"}
		if i+1 < len(blocks) && blocks[i+1].language == "text" {
			shown = blocks[i+1]
		}
		printed := typeBlock(t, s, b, shown.text)
		switch {
		case t.Failed():
			t.Fatalf("%s:%d: see above", path, b.line)
		case prints(shown.text, printed):
		case *update:
			changed = strings.Replace(changed, shown.text, printed, 1)
		default:
			t.Errorf("%s:%d: it prints\n%s\nand not\n%s", path, b.line, printed, shown.text)
		}
	}
	if changed != page {
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// typeBlock types one block and holds it to how it says that it ends.
func typeBlock(t *testing.T, s *session, b block, until string) string {
	t.Helper()
	for _, words := range commandsOf(b.text) {
		if why := elsewhere[words[0]]; slices.Contains([]string{"make", "go", "curl", "talosctl", "docker", "crane"}, words[0]) {
			t.Fatalf("%s is not run here: %s. Make it a block of console", strings.Join(words, " "), why)
		}
	}
	want, stays := b.ends()
	if stays {
		return s.begin(t, b.text, until)
	}
	printed, code := s.run(t, b.text)
	if code != want {
		t.Errorf("%s\nexits with %d, want %d:\n%s", b.text, code, want, printed)
	}
	return printed
}

// TestCommandsWouldNotice types pages that do not hold.
func TestCommandsWouldNotice(t *testing.T) {
	s := newSession(t)
	if printed, code := s.run(t, "export A=1; mkdir x; cd x; false; echo never"); code != 1 || printed != "" {
		t.Errorf("%d %s", code, printed)
	}
	if printed, _ := s.run(t, "basename $PWD; echo $A $USER; test $HOME != "+os.Getenv("HOME")); printed != "x\n1 jo\n" {
		t.Errorf("state is lost: %s", printed)
	}
	if _, code := s.run(t, "false | true"); code != 1 {
		t.Error("a pipe hides what fails")
	}
	if _, code := s.run(t, "minos chekc"); code != 1 {
		t.Error("minos takes what it does not know")
	}
}
