// SPDX-License-Identifier: Apache-2.0

package remarks

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// annotation stands before the ID of a rule in the name of an annotation that bears with its findings.
const annotation = "check.minos.dev/ignore-"

// word is what every suppression in a comment begins with.
var word = []byte("minos:ignore")

// comment is a suppression in a comment.
var comment = regexp.MustCompile(`(^|\s)(?:#|//)\s*minos:(ignore-file|ignore)(?:\s+(.*?))?\s*$`)

// silent are the ends of names of files in which a comment is not one: pages that explain the form, archives of examples.
var silent = []string{".md", ".txt", ".txtar", ".rst", ".adoc", ".html", ".json"}

// Suppressions are all that stand in files, on objects and in the settings; in the order of the files.
func Suppressions(all *facts.Facts) []*Suppression {
	var found []*Suppression
	for _, file := range all.Files {
		if bytes.Contains(file.Text, word) && !slices.Contains(silent, file.Extension()) {
			found = append(found, comments(all, file)...)
		}
		for at, document := range file.Documents {
			found = append(found, annotations(all, document, until(file, at))...)
			if file.Path == facts.SettingsFile {
				found = append(found, settled(all, document)...)
			}
		}
	}
	return found
}

// comments are the suppressions in the comments of a file.
func comments(all *facts.Facts, file *facts.File) []*Suppression {
	var found, waiting []*Suppression // waiting for the line that they are about
	head := true
	for at, line := range file.Lines() {
		bare := strings.TrimSpace(line)
		alone := isComment(bare)
		if match := comment.FindStringSubmatchIndex(line); match != nil {
			one := suppression(all, spot{file, at + 1, line}, match)
			if one.Scope == File && !head && one.Problem == "" {
				one.Problem = "it is for the whole file and does not stand at its top: move it there, or write minos:ignore for the next line"
			}
			found = append(found, one)
			if alone {
				waiting = append(waiting, one)
			}
		}
		if alone || bare == "" || bare == "---" {
			continue
		}
		head = false
		for _, one := range waiting {
			one.from, one.to = at+1, at+1
		}
		waiting = nil
	}
	return found
}

// isComment says whether a line is nothing but a comment.
func isComment(bare string) bool {
	return strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "//")
}

// A spot is a line of a file.
type spot struct {
	file   *facts.File
	number int
	text   string
}

// suppression reads one comment, where it matched in its line.
func suppression(all *facts.Facts, at spot, match []int) *Suppression {
	line := at.text
	one := &Suppression{Scope: Line, Place: all.InTree(at.file, at.number), from: at.number, to: at.number}
	one.patch = &rule.Patch{File: at.file.Path, From: at.number, To: at.number, Lines: []string{}}
	if before := strings.TrimRight(line[:match[0]], " \t"); before != "" {
		one.patch.Lines = []string{before}
	}
	if line[match[4]:match[5]] == "ignore-file" {
		one.Scope = File
	}
	text := ""
	if match[6] >= 0 {
		text = line[match[6]:match[7]]
	}
	one.read(text, all.Now)
	return one
}

// annotations are the suppressions of an object.
func annotations(all *facts.Facts, document *facts.Document, last int) []*Suppression {
	given := document.Map("metadata.annotations")
	var found []*Suppression
	for _, name := range slices.Sorted(maps.Keys(given)) {
		id, ok := strings.CutPrefix(name, annotation)
		if !ok {
			continue
		}
		one := &Suppression{Scope: Object, Place: all.InDocument(document, "metadata.annotations["+name+"]"), from: document.LineOf(""), to: last}
		if document.Kind() == "TalosCluster" {
			one.cluster = title(document)
		}
		one.take(id, strings.TrimSpace(facts.Text(given[name])), all.Now)
		found = append(found, one)
	}
	return found
}

// title is how a cluster is called among others.
func title(document *facts.Document) string {
	cluster := facts.Cluster{Name: document.Name(), Namespace: document.Namespace()}
	return cluster.Title()
}

// until is the last line of a document: the one before the next begins.
func until(file *facts.File, at int) int {
	if at+1 < len(file.Documents) {
		return file.Documents[at+1].LineOf("") - 1
	}
	return bytes.Count(file.Text, []byte("\n")) + 1
}

// settled are the suppressions of the settings, which stand in a file of their own.
func settled(all *facts.Facts, document *facts.Document) []*Suppression {
	var found []*Suppression
	for at, given := range all.Settings.Ignore {
		one := &Suppression{Scope: Folder, glob: given.File, Place: all.InDocument(document, fmt.Sprintf("ignore[%d]", at))}
		one.take(given.Rule, "until "+given.Until+": "+given.Reason, all.Now)
		found = append(found, one)
	}
	return found
}
