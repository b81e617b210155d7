// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/format"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/check/secret"
)

const generated = "<!-- Generated from check/ by 'make generate'. -->"

// pages are all pages by the name of their file.
func pages() map[string]string {
	made := map[string]string{"README.md": index(), "notes.md": notes()}
	for _, group := range check.Groups() {
		if rules := rulesOf(group); len(rules) > 0 {
			made[group.Folder+".md"] = page(group, rules)
		}
	}
	return made
}

// rulesOf are the rules of a group.
func rulesOf(group check.Group) []*rule.Rule {
	var found []*rule.Rule
	for _, one := range check.Rules() {
		if one.Group() == group.ID {
			found = append(found, one)
		}
	}
	return found
}

// index is the page that leads to all others.
func index() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# The rules\n\n%s\n\n", generated)
	out.WriteString("What [`minos check`](../check.md) judges by: one section a rule on the page of its group, with what it asks, why, what to do, and\nexamples that the tests execute. `minos check --explain RULE` says the same.\n")
	out.WriteString("\n| group | about | rules |\n|---|---|---|\n")
	for _, group := range check.Groups() {
		if rules := rulesOf(group); len(rules) > 0 {
			fmt.Fprintf(&out, "| [%s](%s.md) | %s | %d |\n", group.ID, group.Folder, group.Title, len(rules))
		}
	}
	for _, group := range check.Groups() {
		rules := rulesOf(group)
		if len(rules) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n## %s\n\n| rule | severity | what holds |\n|---|---|---|\n", group.Title)
		for _, one := range rules {
			fmt.Fprintf(&out, "| %s | %s | %s |\n", link(one), one.Severity, cell(one.Title))
		}
	}
	out.WriteString("\n## What covers what\n\nWhat has to be settled, done, avoided and watched on Talos, and the rules that see to it.\n\n| | rules |\n|---|---|\n")
	for _, reason := range check.Reasons() {
		var links []string
		for _, id := range reason.Rules {
			if one, err := check.Find(id); err == nil {
				links = append(links, link(one))
			}
		}
		fmt.Fprintf(&out, "| %s | %s |\n", cell(reason.Words), strings.Join(links, ", "))
	}
	return out.String()
}

// link leads to the section of a rule.
func link(one *rule.Rule) string {
	for _, group := range check.Groups() {
		if group.ID == one.Group() {
			return fmt.Sprintf("[%s](%s.md#%s)", one.ID, group.Folder, strings.ToLower(one.ID))
		}
	}
	return one.ID
}

// page is the page of a group.
func page(group check.Group, rules []*rule.Rule) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n\nOne of the groups of [the rules](README.md).\n", group.Title, generated)
	for _, one := range rules {
		fmt.Fprintf(&out, "\n## %s\n\n**%s.** %s\n\n| | |\n|---|---|\n", one.ID, capital(text(one.Title)), text(one.Question))
		for _, field := range format.Fields(one) {
			fmt.Fprintf(&out, "| %s | %s |\n", field[0], cell(field[1]))
		}
		examples(&out, one)
	}
	return out.String()
}

// examples writes the first example that fails and the first that passes.
func examples(out *strings.Builder, one *rule.Rule) {
	all := rule.ParseExamples(one.Examples)
	for _, verdict := range []string{"fail", "pass"} {
		for _, example := range all {
			if example.Verdict() != verdict {
				continue
			}
			fmt.Fprintf(out, "\n%s:\n", capital(format.Caption(example)))
			for _, file := range format.Files(example) {
				fence := "```"
				for strings.Contains(file.Text, fence) {
					fence += "`"
				}
				// Not "yaml": what fails is not held to the rules about what the documentation shows.
				fmt.Fprintf(out, "\n`%s`\n\n%s%s%s\n%s%s\n", file.Name, mark(file.Text), fence, language(file.Name), ended(file.Text), fence)
			}
			break
		}
	}
}

// mark is a comment that nobody sees, before an example with what would be a secret elsewhere.
func mark(content string) string {
	if len(secret.Scan("page.md", []byte(content))) == 0 {
		return ""
	}
	return "<!-- minos:not-secret: made up for this example -->\n"
}

// language is what a file is written in, by its name.
func language(name string) string {
	name, _, _ = strings.Cut(name, " ")
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return "yml"
	case ".json":
		return "json"
	case ".sh":
		return "sh"
	}
	return "text"
}

// ended is a text that ends with its line.
func ended(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimSuffix(text, "\n") + "\n"
}

// notes is the page of notes.
func notes() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Notes\n\n%s\n\n", generated)
	out.WriteString("What people declare to [the checks](../check.md#notes) because no field and no file shows it: as an annotation `check.minos.dev/NOTE`\nof a TalosCluster, a NodePool, a NodeRole or a location, or under `notes` in `.minos-check.yaml`.\n")
	out.WriteString("\n| note | what it says |\n|---|---|\n")
	for _, note := range facts.Notes() {
		fmt.Fprintf(&out, "| `%s` | %s |\n", note, cell(note.Meaning()))
	}
	return out.String()
}

// text is a text that means itself in Markdown.
func text(text string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "*", "\\*").Replace(text)
}

// cell is a text that fits into a cell of a table.
func cell(content string) string { return strings.ReplaceAll(text(content), "|", "\\|") }

// capital is a text with a capital at its beginning.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
