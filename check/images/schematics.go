// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
)

// vanilla is the identity of a schematic that says nothing.
const vanilla = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// quoted is what an error quotes, which may be a secret.
var quoted = regexp.MustCompile("`[^`]*`")

// readable wants schematics that a factory takes, with fields that the version of Talos has.
func readable(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range all.Schematics {
		if one.Error != nil || one.Content == nil {
			sheet.Fail(one.Place, "the schematic is refused: %s", oneLine(one.Error))
			continue
		}
		fine := true
		for _, problem := range refused(one) {
			fine = false
			sheet.Fail(one.Place, "%s", problem)
		}
		for _, name := range one.Content.Customization.SystemExtensions.OfficialExtensions {
			if !strings.HasPrefix(name, extension.Prefix) {
				fine = false
				sheet.Fail(one.Place, "the extension %q has no prefix: write %s%s", name, extension.Prefix, path.Base(name)).Patch = prefixed(one, name)
			}
		}
		fine = judgeSince(all, sheet, one) && fine
		if fine {
			sheet.Pass(one.Place)
		}
	}
}

// oneLine is an error in one line, without what it quotes.
func oneLine(err error) string {
	if err == nil {
		return "it holds nothing"
	}
	return strings.Join(strings.Fields(quoted.ReplaceAllString(err.Error(), "…")), " ")
}

// enrolments are the ways of enrolling the keys of SecureBoot.
var enrolments = []string{"", "off", "manual", "if-safe", "force"}

// refused says what a factory would refuse in any version, at once or when it builds.
func refused(one *facts.SchematicFact) []string {
	var problems []string
	if one.Content.Owner != "" {
		problems = append(problems, "the schematic has an owner, which public factories refuse")
	}
	if way := one.Content.Customization.SecureBoot.EnrollKeys; !slices.Contains(enrolments, way) {
		problems = append(problems, fmt.Sprintf("secureboot.enrollKeys is %q: the build fails, it takes off, manual, if-safe or force", way))
	}
	return problems
}

// item is an extension in a list, on a line of its own.
var item = regexp.MustCompile(`^\s*- ["']?([A-Za-z0-9./_-]+)["']?\s*(#.*)?$`)

// prefixed writes the prefix to a name without any, of which no factory made an image yet; nil if there is no such extension.
func prefixed(one *facts.SchematicFact, name string) *rule.Patch {
	known, err := extension.Load()
	if err != nil || one.Document == nil || strings.Contains(name, "/") {
		return nil
	}
	if _, exists := known.Find(name); !exists {
		return nil
	}
	for at, line := range one.Document.File.Lines() {
		if found := item.FindStringSubmatch(line); found != nil && found[1] == name {
			return rule.Swap(one.Document.File, at+1, name, extension.Prefix+name)
		}
	}
	return nil
}

// since are fields with the version of Talos that they came with.
var since = []struct {
	name, minor string
	used        func(*schematic.Schematic) bool
}{
	{"overlay", "1.7", func(s *schematic.Schematic) bool { return s.Overlay.Name != "" }},
	{"customization.embeddedMachineConfiguration", "1.12", func(s *schematic.Schematic) bool { return s.Customization.EmbeddedMachineConfiguration != "" }},
}

// judgeSince judges the fields that not every version has, and says whether there was nothing to say.
func judgeSince(all *facts.Facts, sheet *rule.Sheet, one *facts.SchematicFact) bool {
	fine := true
	versions := all.Targets(one)
	for _, field := range since {
		if !field.used(one.Content) {
			continue
		}
		if len(versions) == 0 {
			fine = false
			sheet.Unknown(one.Place, "the schematic has %s, which Talos knows from %s; with which version it is used is not known", field.name, field.minor)
		}
		for _, version := range versions {
			if !facts.Since(string(version), field.minor) {
				fine = false
				sheet.Fail(one.Place, "the schematic has %s, and Talos %s does not know it: that came with %s", field.name, version, field.minor)
			}
		}
	}
	return fine
}

// sorted wants lists in order. Those of roles are put in order by us.
func sorted(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range all.Schematics {
		names := one.Extensions()
		if one.Role != nil || len(names) == 0 {
			continue
		}
		place := one.Document.At("customization.systemExtensions.officialExtensions")
		place.Environment = one.Place.Environment
		wanted := slices.Compact(slices.Sorted(slices.Values(names)))
		switch {
		case len(wanted) < len(names):
			sheet.Fail(place, "the schematic names an extension twice").Patch = inOrder(all, one)
		case !slices.Equal(wanted, names):
			outcome := sheet.Fail(place, "the extensions are not in order: %s", strings.Join(names, ", "))
			outcome.Evidence, outcome.Patch = "in order: "+strings.Join(wanted, ", "), inOrder(all, one)
		default:
			sheet.Pass(place)
		}
	}
}

// inOrder puts the lines of a list in order, each once; nil if the schematic is named by its identity somewhere, or if not every
// extension has a line of its own.
func inOrder(all *facts.Facts, one *facts.SchematicFact) *rule.Patch {
	if !all.Free(one) {
		return nil
	}
	file := one.Document.File
	found := file.Find(extension.Prefix)
	lines := file.Lines()
	if len(found) != len(one.Extensions()) || len(found) == 0 || found[len(found)-1]-found[0]+1 != len(found) {
		return nil
	}
	listed := slices.Clone(lines[found[0]-1 : found[len(found)-1]])
	name := func(line string) string { return item.FindStringSubmatch(strings.TrimSuffix(line, "\r"))[1] }
	if slices.ContainsFunc(listed, func(line string) bool { return !item.MatchString(strings.TrimSuffix(line, "\r")) }) {
		return nil
	}
	slices.SortStableFunc(listed, func(a, b string) int { return strings.Compare(name(a), name(b)) })
	listed = slices.CompactFunc(listed, func(a, b string) bool { return name(a) == name(b) })
	return &rule.Patch{File: file.Path, From: found[0], To: found[len(found)-1], Lines: listed}
}

// anID is an identity wherever it stands.
var anID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// plain wants what is called vanilla to be so.
func plain(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range all.Schematics {
		called := one.Role != nil && one.Role.Name == "vanilla" || one.Document != nil && strings.Contains(strings.ToLower(one.Document.File.Base()), "vanilla")
		switch {
		case !called || one.ID == "":
		case one.ID != vanilla:
			sheet.Fail(one.Place, "what is called vanilla is the schematic %.12s, which has %s", one.ID, inIt(one))
		default:
			sheet.Pass(one.Place)
		}
	}
	for _, file := range all.Files {
		if bytes.Contains(file.Text, []byte("anilla")) {
			judgeLines(all, sheet, file)
		}
	}
}

// judgeLines judges the lines of a file that call an ID vanilla.
func judgeLines(all *facts.Facts, sheet *rule.Sheet, file *facts.File) {
	for at, line := range file.Lines() {
		if !strings.Contains(strings.ToLower(line), "vanilla") {
			continue
		}
		ids := anID.FindAllString(line, -1)
		switch wrong := slices.IndexFunc(ids, func(id string) bool { return id != vanilla }); {
		case len(ids) == 0:
		case wrong >= 0:
			sheet.Fail(all.InTree(file, at+1), "%.12s is called vanilla, and is another schematic", ids[wrong])
		default:
			sheet.Pass(all.InTree(file, at+1))
		}
	}
}

// inIt is what a schematic holds, in a few words.
func inIt(one *facts.SchematicFact) string {
	if names := one.Extensions(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "something else than extensions in it"
}
