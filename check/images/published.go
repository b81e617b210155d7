// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"regexp"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// gone is the first version of which Talos publishes no installer by itself.
const gone = "1.14"

// installerOf is Talos's own installer with its tag, wherever it stands.
var installerOf = regexp.MustCompile(`ghcr\.io/siderolabs/installer:([^\s"'@]+)`)

// A use is an installer image somewhere.
type use struct {
	place              facts.Place
	who, name, version string
}

// published wants nothing to use an image that is no longer there.
func published(all *facts.Facts, sheet *rule.Sheet) {
	judged := map[string]bool{}
	for _, machine := range all.Machines {
		judged[machine.File] = judged[machine.File] || machine.Pool == nil
		judgeUse(sheet, use{at(machine), machine.Name + " is installed with", machine.InstallImage(), string(machine.TalosVersion)})
	}
	for _, profile := range all.Profiles {
		judged[profile.Document.File.Path] = true
		const path = "input.baseInstaller.imageRef"
		outcome := judgeUse(sheet, use{all.InDocument(profile.Document, path), "the profile is built upon", profile.Document.String(path), profile.Content.Version})
		outcome.Patch = rule.Swap(profile.Document.File, profile.Document.LineOf(path), "ghcr.io/siderolabs/installer:", "ghcr.io/siderolabs/installer-base:")
	}
	for _, file := range all.Files {
		if !judged[file.Path] && file.Extension() != ".md" && bytes.Contains(file.Text, []byte("siderolabs/installer:")) { // pages speak of it
			inFile(all, sheet, file)
		}
	}
}

// inFile judges the images that a script or the like uses.
func inFile(all *facts.Facts, sheet *rule.Sheet, file *facts.File) {
	for at, line := range file.Lines() {
		for _, name := range installerOf.FindAllString(line, -1) {
			judgeUse(sheet, use{all.InTree(file, at+1), "it uses", name, newest(all)})
		}
	}
}

// judgeUse judges one image, by its tag or else by the version that it is used with. What it returns can be completed.
func judgeUse(sheet *rule.Sheet, one use) *rule.Outcome {
	found := installerOf.FindStringSubmatch(one.name)
	if found != nil && strings.HasPrefix(found[1], "v") {
		one.version = found[1]
	}
	switch {
	case one.name == "":
	case one.version == "" && found != nil:
		sheet.Unknown(one.place, "%s %s, and of which version is not known", one.who, one.name)
	case !facts.Since(one.version, gone):
	case found != nil:
		return sheet.Fail(one.place, "%s %s, which Talos %s no longer has", one.who, one.name, one.version)
	default:
		sheet.Pass(one.place)
	}
	return &rule.Outcome{}
}

// newest is the newest version of Talos that the folder speaks of; empty if it speaks of none.
func newest(all *facts.Facts) string {
	found := string(all.Settings.TalosVersion)
	for _, cluster := range all.Clusters {
		if version := string(cluster.TalosVersion()); version != "" && (found == "" || facts.Since(version, strings.TrimPrefix(found, "v"))) {
			found = version
		}
	}
	return found
}
