// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/sim/program"
)

// write makes a file.
func write(t *testing.T, mode os.FileMode, parts ...string) string {
	t.Helper()
	file := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFind is where programs are looked for, and what is said of those that are not there. ROOT is a folder of the test.
func TestFind(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		checkout, built, installed, beside bool
		variable                           string
		want, wantErr                      string
	}{
		"nowhere":                   {wantErr: "minos-operator is neither beside this program nor in the PATH: run 'make build kube' in a checkout of minos, or set MINOS_OPERATOR to the program"},
		"installed":                 {installed: true, want: "ROOT/path/minos-operator"},
		"of the checkout":           {checkout: true, built: true, installed: true, want: "ROOT/work/bin/minos-operator"},
		"not built in the checkout": {checkout: true, installed: true, wantErr: "bin/minos-operator is not built: run 'make build' first"},
		"beside":                    {checkout: true, built: true, beside: true, want: filepath.Join(filepath.Dir(own), "minos-operator")},
		"named":                     {checkout: true, built: true, variable: "ROOT/path/minos-operator", installed: true, want: "ROOT/path/minos-operator"},
		"named and not there":       {checkout: true, built: true, variable: "ROOT/gone", wantErr: "MINOS_OPERATOR names ROOT/gone, which is not there: run 'make build' first"},
		"named and no program":      {variable: "ROOT/work", wantErr: "ROOT/work is not a program"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			work := filepath.Join(root, "work", "deep")
			if err := os.MkdirAll(work, 0o750); err != nil {
				t.Fatal(err)
			}
			if test.checkout {
				write(t, 0o600, root, "work", "kube", "go.mod")
			}
			if test.built {
				write(t, 0o700, root, "work", "bin", "minos-operator")
			}
			if test.installed {
				write(t, 0o700, root, "path", "minos-operator")
			}
			if test.beside {
				file := write(t, 0o700, filepath.Dir(own), "minos-operator")
				t.Cleanup(func() { _ = os.Remove(file) })
			}
			t.Chdir(work)
			t.Setenv("PATH", filepath.Join(root, "path"))
			put := func(text string) string { return strings.ReplaceAll(text, "ROOT", root) }
			t.Setenv("MINOS_OPERATOR", put(test.variable))
			got, err := program.Find(program.Operator)
			if test.wantErr != "" {
				if want := put(test.wantErr); err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
				return
			}
			if err != nil || got != put(test.want) {
				t.Errorf("%s, %v, want %s", got, err, put(test.want))
			}
		})
	}
}
