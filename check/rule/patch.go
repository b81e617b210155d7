// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"strings"

	"minos.dev/minos/check/facts"
)

// Swap is a patch that puts one text in place of another, and leaves the rest of the line as it is. It is nil unless the line has the
// text exactly once: what has to be guessed is left to people.
func Swap(file *facts.File, line int, old, new string) *Patch {
	lines := file.Lines()
	if old == new || line < 1 || line > len(lines) || strings.Count(lines[line-1], old) != 1 {
		return nil
	}
	return &Patch{File: file.Path, From: line, To: line, Lines: []string{strings.Replace(lines[line-1], old, new, 1)}}
}
