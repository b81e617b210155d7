// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/image"
)

// What the imager knows.
var (
	architectures = []string{"amd64", "arm64"}
	kinds         = []string{"iso", "image", "installer", "kernel", "initramfs", "uki", "cmdline"}
	formats       = []string{"", "raw", ".tar.gz", ".xz", ".gz", ".zst"}
)

// buildable wants profiles that the imager takes.
func buildable(all *facts.Facts, sheet *rule.Sheet) {
	for _, profile := range all.Profiles {
		problems := slices.Concat(wrongWords(profile), wrongParts(profile))
		for _, problem := range problems {
			sheet.Fail(all.InDocument(profile.Document, problem.path), "%s", problem.text)
		}
		if len(problems) == 0 {
			sheet.Pass(all.InDocument(profile.Document, ""))
		}
	}
}

// A problem is something wrong at a path.
type problem struct{ path, text string }

// wrongWords are fields with a word that the imager does not know. A profile that builds upon a named one may leave fields out.
func wrongWords(profile *facts.ProfileFact) []problem {
	content, based := profile.Content, profile.Content.BaseProfileName != ""
	var problems []problem
	add := func(field, value string, known []string) {
		if !slices.Contains(known, value) && (value != "" || !based) {
			problems = append(problems, problem{field, fmt.Sprintf("%s is %q, and the imager knows %s", field, value, strings.TrimPrefix(strings.Join(known, ", "), ", "))})
		}
	}
	add("arch", content.Arch, architectures)
	add("output.kind", content.Output.Kind, kinds)
	add("output.outFormat", content.Output.OutFormat, formats)
	add("platform", content.Platform, image.Platforms())
	return problems
}

// wrongParts are parts that do not go with the kind of file, or that it lacks.
func wrongParts(profile *facts.ProfileFact) []problem {
	document, kind := profile.Document, profile.Content.Output.Kind
	var problems []problem
	if kind == "image" && document.Get("output.imageOptions.diskSize") == nil && profile.Content.BaseProfileName == "" {
		problems = append(problems, problem{"output", "a disk image needs output.imageOptions.diskSize"})
	}
	if kind == "installer" && len(document.List("customization.metaContents")) > 0 {
		problems = append(problems, problem{"customization.metaContents", "an installer may not carry META: that would be written over the machine's own"})
	}
	if (kind == "kernel" || kind == "initramfs") && len(document.List("customization.extraKernelArgs")) > 0 {
		problems = append(problems, problem{"customization.extraKernelArgs", "a bare " + kind + " takes no kernel arguments"})
	}
	return problems
}

// The digest of a reference, and the version of Talos at the end of the tag of an extension with kernel modules.
var (
	withDigest = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	release    = regexp.MustCompile(`(?:^|-)(v1\.[0-9]+\.[0-9]+(?:-[a-z]+\.[0-9]+)?)$`)
)

// pinned wants extensions that are the same tomorrow and fit the kernel.
func pinned(all *facts.Facts, sheet *rule.Sheet) {
	for _, profile := range all.Profiles {
		if profile.Content.Input == nil {
			continue
		}
		for index, one := range profile.Content.Input.SystemExtensions {
			place := all.InDocument(profile.Document, fmt.Sprintf("input.systemExtensions[%d].imageRef", index))
			judgeExtension(sheet, place, one.ImageRef, profile.Content.Version)
		}
	}
}

// judgeExtension judges the reference of one extension.
func judgeExtension(sheet *rule.Sheet, place facts.Place, name, version string) {
	plain, _, _ := strings.Cut(name, "@")
	base, tag, _ := strings.Cut(path.Base(plain), ":")
	known := extension.Extension{}
	if catalogue, err := extension.Load(); err == nil {
		known, _ = catalogue.Find(base)
	}
	of := release.FindStringSubmatch(tag)
	switch {
	case name == "":
		sheet.Unknown(place, "an extension comes from a file, and of which version it is cannot be seen")
	case !withDigest.MatchString(name):
		sheet.Fail(place, "%s is not pinned by its digest", name)
	case !known.Kernel:
		sheet.Pass(place)
	case version == "":
		sheet.Unknown(place, "%s has kernel modules, and the profile names no version that they must fit", base)
	case of == nil || of[1] != version:
		sheet.Fail(place, "%s has kernel modules and the tag %s, and the profile is of Talos %s: they would not be loaded", base, tag, version)
	default:
		sheet.Pass(place)
	}
}
