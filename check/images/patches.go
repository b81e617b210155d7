// SPDX-License-Identifier: Apache-2.0

package images

import (
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/image"
)

// script is what Cozystack makes the profiles of its images with.
const script = "gen-profiles.sh"

// variable is how the patch of ours takes extensions from outside.
const variable = "TALOS_EXTENSIONS"

// patches wants patches of the script to fit it, and to do what they should.
func patches(all *facts.Facts, sheet *rule.Sheet) {
	var scripts []*facts.File
	for _, file := range all.Files {
		if file.Base() == script && !strings.Contains(string(file.Text), variable) {
			scripts = append(scripts, file)
		}
	}
	for _, file := range all.Files {
		if (file.Extension() == ".patch" || file.Extension() == ".diff") && strings.Contains(string(file.Text), script) {
			judgePatch(sheet, all.InTree(file, 1), string(file.Text), scripts)
		}
	}
}

// judgePatch judges a patch by the scripts of the folder.
func judgePatch(sheet *rule.Sheet, place facts.Place, text string, scripts []*facts.File) {
	if !strings.Contains(text, variable) {
		sheet.Fail(place, "the patch writes one set of extensions into %s: every role would need one of its own", script)
		return
	}
	if len(scripts) == 0 {
		sheet.Unknown(place, "whether the patch fits cannot be said: there is no %s of a release in this folder", script)
	}
	for _, one := range scripts {
		made, err := image.Patch(one.Path, string(one.Text))
		switch {
		case !fits(text, string(one.Text)):
			sheet.Fail(place, "the patch does not fit %s", one.Path)
		case err == nil && slices.Equal(changes(made), changes(text)):
			sheet.Pass(place)
		default:
			sheet.Unknown(place, "the patch fits %s, and is not the one that Minos makes: whether what comes out without it stays the same cannot be said", one.Path)
		}
	}
}

// changes are the lines that a patch changes in the script, with what it does to each.
func changes(text string) []string {
	var found []string
	for _, line := range ofScript(text) {
		if line != "" && line[0] != ' ' && line[0] != '@' {
			found = append(found, line)
		}
	}
	return found
}

// ofScript are the lines of the part of a patch that is about the script, from its first hunk.
func ofScript(text string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "diff "):
			inside = false
		case strings.HasPrefix(line, "+++ "):
			inside = strings.HasSuffix(strings.TrimSpace(line), script)
		case inside:
			found = append(found, line)
		}
	}
	return found
}

// fits says whether all hunks of a patch are found in a script, in order.
func fits(patch, text string) bool {
	var hunks []string
	for _, line := range ofScript(patch) {
		switch {
		case strings.HasPrefix(line, "@@"):
			hunks = append(hunks, "")
		case len(hunks) > 0 && line != "" && (line[0] == ' ' || line[0] == '-'):
			hunks[len(hunks)-1] += line[1:] + "\n"
		}
	}
	for _, hunk := range hunks {
		_, after, found := strings.Cut(text, hunk)
		if !found {
			return false
		}
		text = after
	}
	return len(hunks) > 0
}
