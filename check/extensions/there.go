// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"errors"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
)

// exist wants extensions that the release has.
func exist(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range setsOf(all) {
		if len(one.versions) == 0 {
			sheet.Unknown(one.place, "with which version of Talos %s is used is not known", one.title)
		}
		for _, version := range one.versions {
			wrong, newer := missing(one.names, version)
			for _, problem := range wrong {
				sheet.Fail(one.place, "%s, for Talos %s: %s", one.title, version, problem)
			}
			switch {
			case len(wrong) > 0:
			case newer:
				sheet.Unknown(one.place, "%s is for Talos %s, which the catalogue of extensions has not read", one.title, version)
			default:
				sheet.Pass(one.place)
			}
		}
	}
}

// missing says which extensions a release does not have, and whether the catalogue has not read it. Of a release that it has not
// read, only what is gone for good is missing. A name that a factory understands is there: another rule is about it.
func missing(names []string, version api.TalosVersion) (wrong []string, newer bool) {
	read := facts.Catalogued(version)
	for _, name := range names {
		if _, exists := alias(name); exists {
			continue
		}
		unavailable := &extension.UnavailableError{}
		err := catalogue().Check(name, version, architectureOf(name))
		found, known := catalogue().Find(name)
		gone := known && found.Until != ""
		if errors.As(err, &unavailable) && (read || gone) {
			wrong = append(wrong, unavailable.Error())
		}
	}
	return wrong, !read
}

// architectureOf is a processor for which an extension has something: whether it has something for the machine's is another rule.
func architectureOf(name string) api.Architecture {
	if found, _ := catalogue().Find(name); len(found.Architectures) > 0 {
		return found.Architectures[0]
	}
	return api.AMD64
}

// renamed wants present names.
func renamed(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range setsOf(all) {
		fine := true
		for _, name := range one.names {
			meant, exists := alias(name)
			if !exists || hasName(one.versions, name) {
				continue
			}
			fine = false
			if len(one.versions) == 0 {
				sheet.Unknown(one.place, "%s has %s, which newer releases of Talos call %s; with which it is used is not known", one.title, name, meant)
				continue
			}
			sheet.Fail(one.place, "%s has %s, which is called %s in Talos %s", one.title, name, meant, one.versions[0]).Patch = newName(all, one, name)
		}
		if fine {
			sheet.Pass(one.place)
		}
	}
}

// newName writes the name that a factory takes the old one for, so that the image has the same in it; nil if the schematic is named by
// its identity somewhere, if it has the new name too, or if the new name is one of several lines of drivers, which somebody chooses.
func newName(all *facts.Facts, one set, name string) *rule.Patch {
	meant, _ := alias(name)
	if one.schematic == nil || !all.Free(one.schematic) || strings.HasSuffix(meant, "-lts") || slices.Contains(one.names, meant) || !hasName(one.versions, meant) {
		return nil
	}
	file := one.schematic.Document.File
	if lines := file.Find(extension.Prefix + name); len(lines) == 1 {
		return rule.Swap(file, lines[0], extension.Prefix+name, extension.Prefix+meant)
	}
	return nil
}

// hasName says whether all of some releases, and at least one, have an extension by a name.
func hasName(versions []api.TalosVersion, name string) bool {
	return len(versions) > 0 && !slices.ContainsFunc(versions, func(version api.TalosVersion) bool {
		names, err := catalogue().Names(version)
		return err != nil || !slices.Contains(names, name)
	})
}

// processors wants extensions that have something for the machine's processor. Of a declared pool the declaration counts: of an image
// that cannot be made there are no machines.
func processors(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		suits(sheet, set{place: pool.At("spec.architecture"), title: pool.Object.Name, names: pool.Schematic.Extensions()}, pool.Object.Spec.Architecture)
	}
	for _, machine := range all.Machines {
		if machine.Pool == nil && machine.ExtensionsKnown {
			suits(sheet, set{place: machine.At(""), title: machine.Name, names: machine.Extensions}, machine.Architecture)
		}
	}
}

// suits judges the extensions of one machine, or of the machines of a pool.
func suits(sheet *rule.Sheet, one set, architecture api.Architecture) {
	var bound, empty []string
	for _, name := range one.names {
		found, _ := catalogue().Find(name)
		if len(found.Architectures) == 0 {
			continue
		}
		bound = append(bound, name)
		if !slices.Contains(found.Architectures, architecture) {
			empty = append(empty, name)
		}
	}
	switch {
	case len(bound) == 0:
	case architecture == "":
		sheet.Unknown(one.place, "%s has %s, and what processor it has is not known", one.title, strings.Join(bound, ", "))
	case len(empty) > 0:
		sheet.Fail(one.place, "%s is %s, and %s has nothing for that", one.title, architecture, strings.Join(empty, ", "))
	default:
		sheet.Pass(one.place)
	}
}

// lookedAfter wants extensions that somebody looks after.
func lookedAfter(all *facts.Facts, sheet *rule.Sheet) {
	means := map[string]string{"deprecated": "does nothing any more, or is about to go", "contrib": "is dropped from a release when it fails to build"}
	for _, one := range setsOf(all) {
		fine := true
		for _, name := range one.names {
			found, _ := catalogue().Find(name)
			if text := means[found.Tier]; text != "" {
				fine = false
				sheet.Fail(one.place, "%s has %s, which is of the tier %s: it %s", one.title, name, found.Tier, text)
			}
		}
		if fine {
			sheet.Pass(one.place)
		}
	}
}
