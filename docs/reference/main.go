// SPDX-License-Identifier: Apache-2.0

// Command reference writes the reference pages from the generated definitions, the source of the conditions, the metrics and the
// programs themselves, so that they cannot tell another story than "kubectl explain" and "--help" do. It runs at the root of the
// checkout: go run ./docs/reference.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"minos.dev/minos/api/schema"
)

const folder = "docs/reference"

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write writes every page.
func write() error {
	kinds, err := schema.Load()
	if err != nil {
		return err
	}
	for _, name := range kinds.Names() {
		page := filepath.Join(folder, strings.ToLower(name)+".md")
		if err := os.WriteFile(page, kindPage(kinds[name]), 0o644); err != nil {
			return err
		}
	}
	conditions, err := conditionsPage("api/v1alpha1/conditions.go")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "conditions.md"), conditions, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "metrics.md"), metricsPage(), 0o644); err != nil {
		return err
	}
	commands, err := cliPage()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "cli.md"), commands, 0o644); err != nil {
		return err
	}
	return writeRoles()
}
