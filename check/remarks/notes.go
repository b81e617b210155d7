// SPDX-License-Identifier: Apache-2.0

package remarks

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// prefix stands before the name of a note in that of an annotation.
const prefix = "check.minos.dev/"

// notes says which notes nobody reads.
func notes(all *facts.Facts, sheet *rule.Sheet) {
	for _, file := range all.Files {
		for _, document := range file.Documents {
			if file.Path == facts.SettingsFile {
				known(sheet, document.Map("notes"), func(name string) facts.Place { return all.InDocument(document, "notes."+name) })
			}
			given := map[string]any{}
			for name, value := range document.Map("metadata.annotations") {
				if note, ok := strings.CutPrefix(name, prefix); ok && !strings.HasPrefix(name, annotation) {
					given[note] = value
				}
			}
			known(sheet, given, func(name string) facts.Place {
				return all.InDocument(document, "metadata.annotations["+prefix+name+"]")
			})
		}
	}
}

// known compares notes with those that the checks know.
func known(sheet *rule.Sheet, given map[string]any, at func(string) facts.Place) {
	var names []string
	for _, note := range facts.Notes() {
		names = append(names, string(note))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(names, name) {
			sheet.Pass(at(name))
			continue
		}
		hint := nearest.Hint(name, names)
		if hint == "" {
			hint = ": the known ones are in the documentation of the checks"
		}
		sheet.Fail(at(name), "there is no note %q%s", name, hint)
	}
}

// changes says what cannot be changed, where the state before is known.
func changes(all *facts.Facts, sheet *rule.Sheet) {
	old := map[string]*load.Document{}
	for _, document := range all.Before {
		old[identityOf(document)] = document
	}
	for _, document := range all.Documents {
		was, ok := old[identityOf(document)]
		if !ok {
			continue
		}
		place := facts.Place{File: document.File, Line: document.LineOf("metadata.name"), Environment: all.Whole().Environment}
		problems := load.Change(was, document)
		for _, problem := range problems {
			place.Line, place.Path = problem.Line, problem.Path
			sheet.Fail(place, "%s", problem.Text)
		}
		if len(problems) == 0 {
			sheet.Pass(place)
		}
	}
}

// identityOf tells one object from another.
func identityOf(document *load.Document) string {
	return document.Kind.Name + "/" + document.Object.GetNamespace() + "/" + document.Object.GetName()
}
