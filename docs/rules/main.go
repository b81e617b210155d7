// SPDX-License-Identifier: Apache-2.0

// Command rules writes the pages about the rules from the rules themselves, so that they cannot tell another story than the checks
// do. It runs at the root of the checkout: go run ./docs/rules.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const folder = "docs/rules"

func main() {
	for name, text := range pages() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "rules:", err)
			os.Exit(1)
		}
	}
}
