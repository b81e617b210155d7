// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A pin is what a file of versions says of a tool.
type pin struct {
	version string // empty if a lock file has it in a form that nobody reads
	place   facts.Place
}

// tools are the programs with which clusters are run, with the names that files of versions have for them.
var tools = []struct {
	name  string
	names *regexp.Regexp
}{
	{"talosctl", versionAfter(`talosctl|siderolabs/talos`)},
	{"kubectl", versionAfter(`kubectl`)},
	{"talhelper", versionAfter(`talhelper`)},
}

// versionAfter finds the version of a tool in the files of mise, asdf, aqua and devbox.
func versionAfter(names string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[\s"'/:])(?:` + names + `)["']?\s*[@=: ]\s*(?:\{\s*version\s*=\s*)?["']?(v?[0-9][0-9A-Za-z.-]*|latest|lts|stable)`)
}

// whole is a version that says at least the minor version.
var whole = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)`)

// toolFiles are files of versions, by their base names.
var toolFiles = []string{"mise.toml", ".mise.toml", ".tool-versions", "aqua.yaml", ".aqua.yaml", "devbox.json"}

// pinned wants everybody to use the same tools, and those that fit.
func pinned(all *facts.Facts, sheet *rule.Sheet) {
	if len(all.Clusters) == 0 {
		return
	}
	found, missing := pins(all), []string(nil)
	_, by := shown(all)
	for _, tool := range tools {
		one, ok := found[tool.name]
		switch {
		case !ok && tool.name == "talhelper" && by != talhelper:
		case !ok:
			missing = append(missing, tool.name)
		case one.version != "" && !whole.MatchString(one.version):
			sheet.Fail(one.place, "%s is %q, which is another version tomorrow", tool.name, one.version).Patch = repinned(all, tool.name, one)
		}
	}
	if len(missing) > 0 {
		sheet.Fail(all.Whole(), "no file says which version of %s people use", fields(missing))
	}
	if one, ok := found["talosctl"]; ok {
		judgeMinor(all, sheet, one)
	}
}

// judgeMinor holds the version of talosctl to those of the clusters.
func judgeMinor(all *facts.Facts, sheet *rule.Sheet, one pin) {
	own := whole.FindStringSubmatch(one.version)
	for _, cluster := range all.Clusters {
		version := string(cluster.TalosVersion())
		wanted := whole.FindStringSubmatch(version)
		switch {
		case own == nil && one.version != "": // said already
		case own == nil:
			sheet.Unknown(one.place, "talosctl is pinned by a lock file, and its version does not stand there")
		case wanted == nil:
			sheet.Unknown(one.place, "talosctl is %s, and the Talos of cluster %s is not known", one.version, cluster.Title())
		case own[1] != wanted[1]:
			outcome := sheet.Fail(one.place, "talosctl is %s, and cluster %s has Talos %s: it may not know what the machines have", one.version, cluster.Title(), version)
			outcome.Patch = repinned(all, "talosctl", one)
		default:
			sheet.Pass(one.place)
		}
	}
}

// repinned writes the version that all clusters have; nil if they have several, or if the tool has versions of its own.
func repinned(all *facts.Facts, tool string, one pin) *rule.Patch {
	wanted := map[string]bool{}
	for _, cluster := range all.Clusters {
		switch tool {
		case "talosctl":
			wanted[string(cluster.TalosVersion())] = true
		case "kubectl":
			wanted[string(cluster.KubernetesVersion())] = true
		}
	}
	file := fileOf(all, one.place.File)
	for version := range wanted {
		if len(wanted) == 1 && whole.MatchString(version) && file != nil {
			if !strings.HasPrefix(one.version, "v") && !strings.HasSuffix(file.Base(), "aqua.yaml") {
				version = strings.TrimPrefix(version, "v")
			}
			return rule.Swap(file, one.place.Line, one.version, version)
		}
	}
	return nil
}

// pins are the versions that files of the folder say. What stands in a lock file of Nix counts where nothing else does.
func pins(all *facts.Facts) map[string]pin {
	found := map[string]pin{}
	locked := slices.ContainsFunc(all.Files, func(file *facts.File) bool {
		return file.Tracked && (file.Base() == "flake.lock" || file.Base() == "devenv.lock")
	})
	for _, file := range all.Files {
		for _, tool := range tools {
			_, known := found[tool.name]
			at := versionIn(file, tool.names)
			switch {
			case at != nil:
				found[tool.name] = pin{string(file.Text[at[2]:at[3]]), all.InTree(file, 1+bytes.Count(file.Text[:at[2]], []byte("\n")))}
			case locked && !known && file.Extension() == ".nix" && bytes.Contains(file.Text, []byte(tool.name)):
				found[tool.name] = pin{"", all.InTree(file, firstLine(file, tool.name))}
			}
		}
	}
	return found
}

// versionIn is where a committed file of versions says that of a tool; nil if it is none, or does not say it.
func versionIn(file *facts.File, names *regexp.Regexp) []int {
	if !file.Tracked || !isToolFile(file) {
		return nil
	}
	return names.FindSubmatchIndex(file.Text)
}

// isToolFile says whether a file is one of versions.
func isToolFile(file *facts.File) bool {
	return slices.Contains(toolFiles, file.Base()) || strings.HasSuffix(file.Path, "mise/config.toml")
}

// firstLine is the first line of a file that holds a text.
func firstLine(file *facts.File, text string) int {
	return slices.Min(append(file.Find(text), cmp.Or(len(file.Lines()), 1)))
}
