// SPDX-License-Identifier: Apache-2.0

package extension_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/talos/extension"
)

var rewrite = flag.Bool("update", false, "write the catalogue as it is kept")

func TestTargets(t *testing.T) {
	makefile := `# a comment with TARGETS = nothing
REGISTRY ?= ghcr.io
TARGETS = amdgpu
TARGETS += \
	zfs \
	drbd $(EXTRA) # the old ones
OTHER = not-this \
	nor-this
NONFREE_TARGETS := nonfree-kmod-nvidia-lts
all: $(TARGETS)
`
	want := []string{"amdgpu", "drbd", "nonfree-kmod-nvidia-lts", "zfs"}
	if diff := cmp.Diff(want, extension.Targets([]byte(makefile))); diff != "" {
		t.Error(diff)
	}
}

func TestWith(t *testing.T) {
	c := load(t)
	names, err := c.Names("v1.14.0-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	var next []string
	for _, name := range names {
		if name != "youki" {
			next = append(next, name)
		}
	}
	grown, err := c.With("v1.15.0", append(next, "frobnicator"))
	if err != nil {
		t.Fatal(err)
	}
	if err := grown.Check("frobnicator", "v1.15.0", "amd64"); err != nil {
		t.Error(err)
	}
	if err := grown.Check("frobnicator", "v1.13.9", "amd64"); err == nil {
		t.Error("a new extension is in an old release")
	}
	if err := grown.Check("youki", "v1.15.0", "amd64"); err == nil {
		t.Error("an extension that is gone is still there")
	}
	if e, _ := grown.Find("zfs"); len(e.Services) == 0 {
		t.Error("what was known of an extension is lost")
	}
	if _, ok := c.Find("frobnicator"); ok {
		t.Error("the old catalogue changed")
	}
	if _, err := grown.With("v1.14.5", names); err == nil {
		t.Error("an older release was added after a newer one")
	}
	if _, err := grown.With("v1.16.0", append(next, "youki")); err == nil {
		t.Error("an extension came back, which the catalogue cannot say")
	}
}

// TestTextIsWhatIsKept writes the catalogue and expects the file, byte for byte: a refresh changes what changed.
func TestTextIsWhatIsKept(t *testing.T) {
	want, err := os.ReadFile("catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t).Text()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile("catalogue.json", got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
