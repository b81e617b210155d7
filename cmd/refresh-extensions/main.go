// SPDX-License-Identifier: Apache-2.0

// Command refresh-extensions adds the releases that the catalogue of system extensions does not know yet. It reads a clone
// of the public repository of extensions and prints the new catalogue:
//
//	go run ./cmd/refresh-extensions CLONE > catalogue.json
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"minos.dev/minos/talos/extension"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "refresh-extensions:", err)
		os.Exit(1)
	}
}

// run reads every release that is new.
func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give the folder of a clone of the repository of extensions")
	}
	catalogue, err := extension.Load()
	if err != nil {
		return err
	}
	tags, err := git(args[0], "tag", "--list", "v*", "--sort=v:refname")
	if err != nil {
		return err
	}
	for _, tag := range strings.Fields(string(tags)) {
		if !catalogue.Newer(tag) {
			continue
		}
		makefile, err := git(args[0], "show", tag+":Makefile")
		if err != nil {
			return err
		}
		if catalogue, err = catalogue.With(tag, extension.Targets(makefile)); err != nil {
			return err
		}
	}
	text, err := catalogue.Text()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

// git runs git in a clone.
func git(clone string, args ...string) ([]byte, error) {
	out, err := exec.Command("git", append([]string{"-C", clone, "-c", "versionsort.suffix=-"}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
