// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/sops"
)

// ordinary is a path that Git's ignore rules take as it stands.
var ordinary = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`)

// ignored names a file in the .gitignore of the folder, which is made if there is none; nil if the path has signs that mean something
// there, or if nobody asked Git.
func ignored(all *facts.Facts, file *facts.File) *rule.Patch {
	if !all.Git || !ordinary.MatchString(file.Path) {
		return nil
	}
	last := 0
	for _, one := range all.Files {
		if one.Path == ".gitignore" {
			last = strings.Count(strings.TrimSuffix(string(one.Text), "\n"), "\n") + 1
		}
	}
	return &rule.Patch{File: ".gitignore", From: last + 1, To: last, Lines: []string{"/" + file.Path}}
}

// alternatives is a regular expression that only lists names: ^(data|stringData)$.
var alternatives = regexp.MustCompile(`\^\(([A-Za-z0-9_|-]+)\)\$`)

// widened adds the last part of every field that is missed to the names that a rule of SOPS lists; nil if the rule says it in another
// way, if there are several such rules, or if that would not cover the file.
func widened(one bearer, missed []string) *rule.Patch {
	lines := one.settings.Find("encrypted_regex:")
	if len(lines) != 1 || len(one.settings.Find("unencrypted_regex:")) > 0 {
		return nil
	}
	listed := alternatives.FindStringSubmatch(one.settings.Lines()[lines[0]-1])
	if listed == nil {
		return nil
	}
	names := strings.Split(listed[1], "|")
	for _, field := range missed {
		if name := field[strings.LastIndex(field, ".")+1:]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	patch := rule.Swap(one.settings, lines[0], listed[0], "^("+strings.Join(names, "|")+")$")
	if patch == nil || !covers(one, patch) {
		return nil
	}
	return patch
}

// covers says whether a file is covered by the rules of SOPS with a patch.
func covers(one bearer, patch *rule.Patch) bool {
	lines := one.settings.Lines()
	lines[patch.From-1] = patch.Lines[0]
	config, err := sops.ParseConfig([]byte(strings.Join(lines, "\n")))
	if err != nil {
		return false
	}
	chosen, err := config.For(one.below)
	return err == nil && !slices.ContainsFunc(one.fields, func(field string) bool {
		ok, err := chosen.Covers(strings.Split(field, "."))
		return err != nil || !ok
	})
}
