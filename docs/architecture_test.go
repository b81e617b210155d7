// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
)

// section is the part of a page below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, found, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no heading %s", page, heading)
	}
	found, _, _ = strings.Cut(found, "\n## ")
	return found
}

// TestJoinIsDrawn holds the drawing of the join to the conditions of a machine, in their order.
func TestJoinIsDrawn(t *testing.T) {
	var drawn []string
	for _, found := range regexp.MustCompile(`(?m) \d ([A-Z]\w+)`).FindAllStringSubmatch(section(t, "architecture.md", "## A machine joins"), -1) {
		drawn = append(drawn, found[1])
	}
	if diff := cmp.Diff([]string(api.TalosMachineReady), drawn); diff != "" {
		t.Errorf("-code +page:\n%s", diff)
	}
}

// TestProcessesAreDrawn holds the drawing of processes to the ports at which they are installed.
func TestProcessesAreDrawn(t *testing.T) {
	drawing := section(t, "architecture.md", "## The processes of a management cluster")
	operator, err := fs.ReadFile(charts.Operator, "minos/operator/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := os.ReadFile("signer/sidecar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"6443"} // the API server's, which is not ours to install
	for _, found := range regexp.MustCompile(`containerPort: (\d+)`).FindAllStringSubmatch(string(operator)+string(signer), -1) {
		want = append(want, found[1])
	}
	var drawn []string
	for _, found := range regexp.MustCompile(` :(\d+)`).FindAllStringSubmatch(drawing, -1) {
		drawn = append(drawn, found[1])
	}
	slices.Sort(want)
	slices.Sort(drawn)
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("-installed +drawn:\n%s", diff)
	}
}
