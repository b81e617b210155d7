// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ProgramVariable names another minos-kube than the one of this checkout.
const ProgramVariable = "MINOS_KUBE"

// Program finds minos-kube: the one that the variable names, or bin/minos-kube of the checkout that the current folder
// is in. That it is missing is an error that says what to run; nothing goes on without it.
func Program() (string, error) {
	if named := os.Getenv(ProgramVariable); named != "" {
		return named, executable(named)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "kube", "go.mod")); err == nil {
			program := filepath.Join(folder, "bin", "minos-kube")
			return program, executable(program)
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("minos-kube: this is not a checkout of minos; set %s to the program", ProgramVariable)
		}
		folder = parent
	}
}

// executable says in one line why a program cannot be started.
func executable(program string) error {
	info, err := os.Stat(program)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("bin/minos-kube is not built: run 'make kube' first")
	}
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not a program", program)
	}
	return nil
}
