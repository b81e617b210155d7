// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// explained is a line of the table of built-in roles: its name, what it is for, its extensions, and how many a cluster may have.
var explained = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| [^|]+ \\| ([^|]*)\\| (One|HA|Any) \\|$")

// TestThePage holds the page about roles to the built-in ones: each has its line, with what is in its image.
func TestThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/kinds/noderole.md")
	if err != nil {
		t.Fatal(err)
	}
	type line struct{ Extensions, PerCluster string }
	want, got := map[string]line{}, map[string]line{}
	for _, name := range talos.BuiltinRoleNames() {
		spec := resolve(t, api.Name(name))
		want[name] = line{strings.Join(slices.Sorted(slices.Values(spec.Extensions)), ", "), string(spec.PerCluster)}
	}
	for _, found := range explained.FindAllStringSubmatch(string(page), -1) {
		names := strings.ReplaceAll(strings.TrimSpace(found[2]), "those of compute", want["compute"].Extensions)
		got[found[1]] = line{strings.Join(slices.Sorted(strings.SplitSeq(names, ", ")), ", "), found[3]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-there +on the page):\n%s", diff)
	}
}
