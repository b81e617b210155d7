// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/talos/image"
)

// read returns a file of the tests.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write makes a file.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// try runs a program in a folder, with variables, and returns what it prints.
func try(dir string, variables []string, program ...string) (string, error) {
	command := exec.Command(program[0], program[1:]...)
	command.Dir, command.Env = dir, append(os.Environ(), variables...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// run is try of what must not fail.
func run(t *testing.T, dir string, variables []string, program ...string) string {
	t.Helper()
	out, err := try(dir, variables, program...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", program, err, out)
	}
	return out
}

const scriptPath = "packages/core/talos/hack/gen-profiles.sh"

// patched returns a checkout in which git applied the patch, and the script as it was.
func patched(t *testing.T) (checkout string) {
	t.Helper()
	checkout = t.TempDir()
	write(t, filepath.Join(checkout, scriptPath), read(t, "gen-profiles.sh"), 0o750)
	patch, err := image.Patch(scriptPath, read(t, "gen-profiles.sh"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(checkout, "role.patch"), patch, 0o600)
	run(t, checkout, nil, "git", "init", "--quiet")
	run(t, checkout, nil, "git", "apply", "--check", "role.patch")
	run(t, checkout, nil, "git", "apply", "role.patch")
	return checkout
}

// generate runs a script with one shell and a crane that has the digests of the tests, and returns what it prints and
// the files that it writes.
func generate(t *testing.T, shell, script string, variables ...string) (string, map[string]string) {
	t.Helper()
	dir, tools := t.TempDir(), t.TempDir()
	write(t, filepath.Join(tools, "image-digests"), read(t, "image-digests"), 0o600)
	write(t, filepath.Join(tools, "crane"), "#!/bin/sh\nexec tar c -C "+tools+" image-digests\n", 0o750)
	out := run(t, dir, append(variables, "PATH="+tools+":"+os.Getenv("PATH")), shell, script, "v1.13.9")
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, files
}

// TestPatchChangesNothingByDefault runs the script before and after the patch.
func TestPatchChangesNothingByDefault(t *testing.T) {
	before, err := filepath.Abs("testdata/gen-profiles.sh")
	if err != nil {
		t.Fatal(err)
	}
	after := filepath.Join(patched(t), scriptPath)
	for _, shell := range []string{"sh", "bash"} {
		t.Run(shell, func(t *testing.T) {
			wantSaid, want := generate(t, shell, before)
			said, got := generate(t, shell, after)
			if diff := cmp.Diff(want, got); diff != "" || len(want) != 2 {
				t.Errorf("%d files\n%s", len(want), diff)
			}
			if diff := cmp.Diff(wantSaid, said); diff != "" {
				t.Error(diff)
			}
		})
	}
	if info, err := os.Stat(after); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the script cannot be run any more: %v", err)
	}
}

// TestRolesDifferByTheirExtensions generates the profiles of roles.
func TestRolesDifferByTheirExtensions(t *testing.T) {
	script := filepath.Join(patched(t), scriptPath)
	variables := func(name string) []string {
		names := image.Extensions(builtin(t, "compute"))
		if name == "gateway" {
			names = image.Extensions(builtin(t, "gateway"))
		}
		return []string{"TALOS_EXTENSIONS=" + strings.Join(names, " "), "TALOS_ARCH=arm64", "TALOS_ROLE_SUFFIX=-" + name}
	}
	_, compute := generate(t, "sh", script, variables("compute")...)
	_, gateway := generate(t, "sh", script, variables("gateway")...)
	line := "    - imageRef: ghcr.io/siderolabs/tailscale:1.102.2@sha256:0000000000000000000000000000000000000000000000000000000000000006\n"
	got, ok := gateway["images/talos/profiles-gateway/nocloud.yaml"]
	if !ok || !strings.Contains(got, line) || strings.Replace(got, line, "", 1) != compute["images/talos/profiles-compute/nocloud.yaml"] {
		t.Errorf("gateway:\n%s\ncompute:\n%s", got, compute["images/talos/profiles-compute/nocloud.yaml"])
	}
	for _, want := range []string{"arch: arm64\n", "path: /usr/install/arm64/vmlinuz\n", "path: /usr/install/arm64/initramfs.xz\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	_, doubled := generate(t, "sh", script, "TALOS_EXTENSIONS=amd-ucode drbd zfs")
	_, before := generate(t, "sh", script)
	if diff := cmp.Diff(before, doubled); diff != "" {
		t.Errorf("an extension that the template has already is there twice:\n%s", diff)
	}
	_, plain := generate(t, "sh", script, "TALOS_EXTENSIONS=", "TALOS_BASE_INSTALLER=ghcr.io/siderolabs/installer-base")
	text := plain["images/talos/profiles/installer.yaml"]
	if strings.Contains(text, "drbd") || !strings.Contains(text, `"ghcr.io/siderolabs/installer-base:v1.13.9"`) {
		t.Errorf("a role without extensions has\n%s", text)
	}
}

func TestPatchRefuses(t *testing.T) {
	const other = "this is not Cozystack's gen-profiles.sh, or one of another release: "
	tests := map[string]struct{ old, with, want string }{
		"a patched one":             {`EXTENSIONS="drbd zfs"`, `EXTENSIONS="${TALOS_EXTENSIONS}"`, "the script takes TALOS_EXTENSIONS already: it is patched"},
		"no list":                   {`EXTENSIONS="drbd zfs"`, "", other + `no line EXTENSIONS="…"`},
		"a list from elsewhere":     {`EXTENSIONS="drbd zfs"`, `EXTENSIONS="$1"`, other + `the line EXTENSIONS="…" is not a list of names`},
		"an architecture":           {"PROFILES=", "ARCH=arm64\nPROFILES=", other + "the script has a variable ARCH of its own"},
		"another folder":            {"images/talos/profiles", "out", other + `no "images/talos/profiles" in it`},
		"another architecture":      {"arch: amd64", "arch: $1", other + `no "arch: amd64" in it`},
		"no such line":              {"    - imageRef: ${ZFS_IMAGE}\n", "", other + "no line '- imageRef: ${ZFS_IMAGE}' in the template"},
		"another order":             {`EXTENSIONS="drbd zfs"`, `EXTENSIONS="zfs drbd"`, other + "the template has the extensions in another order than the list, so that its output would change"},
		"another loop":              {"for extension in $EXTENSIONS; do", "for e in $EXTENSIONS; do", other + "no loop 'for extension in $EXTENSIONS; do'"},
		"a loop that does not look": {"  image=$(grep -F \"/$extension:\" \"$work/image-digests\")\n", "", other + "the loop over the extensions does not set image"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := image.Patch(scriptPath, strings.ReplaceAll(read(t, "gen-profiles.sh"), test.old, test.with))
			if message(err) != test.want || got != "" {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := image.Patch(scriptPath, "ghcr.io/siderolabs/installer:"); err == nil {
		t.Error("something else is patched")
	}
	later := strings.ReplaceAll(read(t, "gen-profiles.sh"), "siderolabs/installer:", "siderolabs/installer-base:")
	if patch, err := image.Patch(scriptPath, later); err != nil || strings.Contains(patch, "BASE_INSTALLER") {
		t.Errorf("a script with another installer: %v\n%s", err, patch)
	}
}
