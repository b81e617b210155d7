// SPDX-License-Identifier: Apache-2.0

package minos_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "draw the rooms anew in docs/architecture.md")

// Where the drawing is: between these lines of the page.
const (
	architecture = "docs/architecture.md"
	drawingBegin = "<!-- Generated from the code by 'make generate': begin -->\n"
	drawingEnd   = "<!-- end -->"
)

// TestArchitecture holds the drawing of the rooms to what the code imports.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(text), drawingBegin)
	drawn, tail, ends := strings.Cut(rest, drawingEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the drawing, between %q and %q", architecture, drawingBegin, drawingEnd)
	}
	used := leaning(imports(t))
	made := "\n" + drawing(used) + "\n" + roomTable(used, purposes(t)) + "\n"
	if *update {
		if err := os.WriteFile(architecture, []byte(head+drawingBegin+made+drawingEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(drawn, made); diff != "" {
		t.Errorf("run make generate (-drawn +code):\n%s", diff)
	}
}

// TestArchitectureWouldNotice leaves out what follows from the rest, and nothing else.
func TestArchitectureWouldNotice(t *testing.T) {
	found := leaning(map[string][]string{
		"api/load": {module + "/api/v1alpha1", "fmt"},
		"talos":    {module + "/api/v1alpha1"},
		"cli":      {module + "/talos/fleet", module + "/api/load", "os"},
		"trust":    {"net"},
	})
	want := map[string][]string{"api": {}, "talos": {"api"}, "cli": {"api", "talos"}, "trust": {}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	text := drawing(found)
	for _, line := range []string{"cli --> talos\n", "talos --> api\n", "trust[trust]\n", "talos([talos])\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	if strings.Contains(text, "cli --> api") {
		t.Errorf("what follows is drawn too:\n%s", text)
	}
}

// leaning is which rooms the packages of each room import, sorted.
func leaning(imports map[string][]string) map[string][]string {
	found := map[string][]string{}
	for importer, imported := range imports {
		name, _, _ := strings.Cut(importer, "/")
		if found[name] == nil {
			found[name] = []string{}
		}
		for _, path := range imported {
			ours, isOurs := strings.CutPrefix(path, module+"/")
			other, _, _ := strings.Cut(ours, "/")
			if isOurs && other != name && !slices.Contains(found[name], other) {
				found[name] = append(found[name], other)
			}
		}
		slices.Sort(found[name])
	}
	return found
}

// reaches says whether one room leads to another, by one step or several.
func reaches(used map[string][]string, from, to string) bool {
	return slices.ContainsFunc(used[from], func(next string) bool { return next == to || reaches(used, next, to) })
}

// drawing is the rooms and who imports whom, without the arrows that follow from others. Pure rooms are round.
func drawing(used map[string][]string) string {
	var text strings.Builder
	text.WriteString("```mermaid\nflowchart TB\n")
	for _, name := range slices.Sorted(maps.Keys(used)) {
		shape := "[%s]"
		if isPure(name) {
			shape = "([%s])"
		}
		fmt.Fprintf(&text, "  %s"+shape+"\n", name, name)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		for _, other := range used[name] {
			follows := slices.ContainsFunc(used[name], func(next string) bool { return next != other && reaches(used, next, other) })
			if !follows {
				fmt.Fprintf(&text, "  %s --> %s\n", name, other)
			}
		}
	}
	return text.String() + "```\n"
}

// isPure says whether the table lets a room do nothing but compute.
func isPure(name string) bool {
	return !slices.ContainsFunc(pure, func(never string) bool { return !slices.Contains(rooms[name].never, never) })
}

// roomTable says of every room what it is for, and on whom it leans.
func roomTable(used map[string][]string, purpose map[string]string) string {
	var text strings.Builder
	text.WriteString("| room | what is in it | imports of ours |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(used)) {
		kind := ""
		if isPure(name) {
			kind = ", pure"
		}
		fmt.Fprintf(&text, "| [`%s`](../%s)%s | %s | %s |\n", name, name, kind, purpose[name], strings.Join(used[name], ", "))
	}
	return text.String()
}

// purposes are the first sentences of what the rooms say of themselves; of those that are no package, it is said here.
func purposes(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"cmd": "The programs, each a main of a few lines.", "docs": "What is read, and the programs that generate parts of it."}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name := strings.TrimPrefix(path, module+"/")
		if _, isRoom := rooms[name]; !isRoom {
			continue
		}
		for _, lead := range []string{"Package " + name + " ", "Command " + name + " ", "is ", "pure: ", "holds ", "has "} {
			doc = strings.TrimPrefix(doc, lead)
		}
		if doc != "" {
			found[name] = strings.ToUpper(doc[:1]) + doc[1:]
		}
	}
	return found
}
