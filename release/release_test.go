// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// commit is a time in the past, as that of a commit is.
var commit = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// small is what is cheap to build: one program, for this processor.
var small = target{"linux", runtime.GOARCH, []string{"minos-signer"}}

// copyTree makes a copy of the checkout, without what was built in it and what belongs to another module.
func copyTree(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "out", "kube", "docs"}, name):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// delivered is the checksums of a release that is made in a folder of its own.
func delivered(t *testing.T, tree string, version string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "release")
	err := order{version: version, commit: "0123abc", made: commit, tree: tree, out: out, targets: []target{small}, words: io.Discard}.deliver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(out, checksumsName))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(filepath.Join(out, small.folder(), "minos-signer"))
	if err != nil || strings.Contains(string(binary), tree) {
		t.Errorf("the program knows where it was built: %v", err)
	}
	return string(sums)
}

// TestReproducible builds a release in two folders, the second time as somebody with other settings, and wants the same bytes.
func TestReproducible(t *testing.T) {
	here, there := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "further", "away")
	copyTree(t, here)
	copyTree(t, there)
	first := delivered(t, here, "v1.2.3")
	for name, value := range map[string]string{
		"GOFLAGS": "-tags=other", "GOAMD64": "v3", "GOARM64": "v9.0", "GOOS": "plan9", "CGO_ENABLED": "1", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "1",
	} {
		t.Setenv(name, value)
	}
	second := delivered(t, there, "v1.2.3")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two builds differ (-first +second):\n%s", diff)
	}
	var names []string
	for line := range strings.Lines(first) {
		names = append(names, strings.Fields(line)[1])
	}
	folder := small.folder()
	want := []string{"LICENSE", folder + "/minos-signer", "minos-signer-v1.2.3-" + folder + ".cdx.json", "minos-signer-v1.2.3-" + folder + ".tar.gz"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if other := delivered(t, there, "v1.2.4"); strings.Fields(other)[2] == strings.Fields(first)[2] {
		t.Error("another version has the same bytes: this test has lost its object")
	}
}

// TestChecksums lets the program that users have check them.
func TestChecksums(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	if err := writeChecksums(folder); err != nil {
		t.Fatal(err)
	}
	check := func() (string, error) {
		program := exec.CommandContext(t.Context(), "sha256sum", "--strict", "-c", checksumsName)
		program.Dir = folder
		out, err := program.CombinedOutput()
		return string(out), err
	}
	out, err := check()
	if err != nil || !strings.Contains(out, "minos-signer/Containerfile: OK") || strings.Contains(out, checksumsName) {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte("package other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check(); err == nil || !strings.Contains(out, "main.go: FAILED") {
		t.Errorf("a changed file is not noticed: %v: %s", err, out)
	}
}

// TestTargets holds what is delivered to what there is: every program whose main says that the release sets its version.
func TestTargets(t *testing.T) {
	mains, err := filepath.Glob("../cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, main := range mains {
		text, err := os.ReadFile(main)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "The release build sets") {
			want = append(want, filepath.Base(filepath.Dir(main)))
		}
	}
	for _, one := range targets {
		if one.system == "linux" && !slices.Equal(one.programs, want) {
			t.Errorf("for %s there are %v, and not %v", one, one.programs, want)
		}
		if one.system != "linux" && !slices.Equal(one.programs, []string{"minos"}) {
			t.Errorf("for %s there are %v", one, one.programs)
		}
		if baseline[one.processor] == "" {
			t.Errorf("for %s nobody says which processors are old enough", one)
		}
	}
}

// TestOrders is what is said of an order that makes no sense.
func TestOrders(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	for args, want := range map[string]string{
		"":                               `-version "" with -commit "" is no version`,
		"-version ../v1 -epoch 1":        `-version "../v1"`,
		"-version v1.2.3":                `-epoch "" is not a number of seconds`,
		"-version v1.2.3 -epoch morning": `-epoch "morning" is not a number of seconds`,
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	given, err := parse([]string{"-version", "v1.2.3"}, io.Discard)
	if err != nil || given.made.Unix() != 1700000000 || len(given.targets) != len(targets) {
		t.Errorf("%+v: %v", given, err)
	}
}
