// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"minos.dev/minos/talos/compare"
	"minos.dev/minos/talos/redact"
)

// widest is how much of a value is shown on a line. -o json has all of it.
const widest = 160

// lines are the changes of a machine, a document at a time.
func (c *machineChange) lines() []string {
	var lines []string
	document := ""
	for _, change := range c.Changes {
		if change.Document != document {
			document = change.Document
			lines = append(lines, document)
		}
		lines = append(lines, "  "+changeLine(change))
	}
	return lines
}

// changeLine is one change: + for what is new, - for what is gone, ~ for what is different.
func changeLine(change compare.Change) string {
	switch {
	case change.Old == nil:
		return fmt.Sprintf("+ %s: %s", change.Path, brief(*change.New))
	case change.New == nil:
		return fmt.Sprintf("- %s: %s", change.Path, brief(*change.Old))
	case *change.Old == *change.New: // only what is hidden differs
		return fmt.Sprintf("~ %s: %s, and different", change.Path, brief(*change.New))
	}
	return fmt.Sprintf("~ %s: %s -> %s", change.Path, brief(*change.Old), brief(*change.New))
}

// brief is a value on one line.
func brief(value string) string {
	text := strings.ReplaceAll(value, "\n", `\n`)
	if utf8.RuneCountInString(text) > widest {
		text = string([]rune(text)[:widest]) + "…"
	}
	if text == "" {
		return `""`
	}
	return text
}

// redactor knows the secrets of all clusters.
func (r *rendering) redactor() *redact.Redactor {
	hidden := &redact.Redactor{}
	for _, cluster := range r.clusters {
		for _, value := range cluster.values {
			hidden.Learn(value)
		}
		for _, item := range cluster.secrets.Describe(false) {
			if item.Kind != "identity" { // which is no secret
				hidden.Learn(item.Value)
			}
		}
	}
	return hidden
}
