// SPDX-License-Identifier: Apache-2.0

// Package program finds the programs that the simulator starts, all in one way.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The programs.
const (
	// Kube is the control plane that kube/ builds.
	Kube = "minos-kube"
	// Operator is the operator.
	Operator = "minos-operator"
)

// targets are what 'make' is to be told for a program.
var targets = map[string]string{Kube: "kube", Operator: "build"}

// Variable names another program than the one that would be found.
func Variable(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Find finds a program: the one that its variable names, the one beside the running program, bin/ of the checkout that the
// current folder is in, or one of the PATH, in this order. A checkout in which it is not built ends the search: what somebody
// has installed may be another release. That it is missing is an error that says what to run; nothing goes on without it.
func Find(name string) (string, error) {
	if named := os.Getenv(Variable(name)); named != "" {
		return named, executable(named, name, Variable(name)+" names "+named+", which is not there")
	}
	if own, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(own), name); executable(beside, name, "") == nil {
			return beside, nil
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if root, found := checkout(folder); found {
		built := filepath.Join(root, "bin", name)
		return built, executable(built, name, "bin/"+name+" is not built")
	}
	if installed, err := exec.LookPath(name); err == nil {
		return filepath.Abs(installed)
	}
	return "", fmt.Errorf("%s is neither beside this program nor in the PATH: run 'make build kube' in a checkout of minos, or set %s to the program", name, Variable(name))
}

// checkout is the root of the checkout that a folder is in.
func checkout(folder string) (string, bool) {
	for {
		if _, err := os.Stat(filepath.Join(folder, "kube", "go.mod")); err == nil {
			return folder, true
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", false
		}
		folder = parent
	}
}

// executable says in one line why a program cannot be started; missing are the words for one that is not there.
func executable(file, name, missing string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: run 'make %s' first", missing, targets[name])
	}
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not a program", file)
	}
	return nil
}
