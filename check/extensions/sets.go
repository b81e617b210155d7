// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// parts are the extensions of NVIDIA without the line at the end of their names.
var parts = []string{"nvidia-container-toolkit", "nvidia-open-gpu-kernel-modules", "nonfree-kmod-nvidia", "nvidia-fabricmanager"}

// oneLine wants the parts of NVIDIA to fit each other.
func oneLine(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range setsOf(all) {
		lines, kinds := map[string]bool{}, map[string]bool{}
		for _, name := range one.names {
			if part, line, is := partOf(name); is {
				lines[line], kinds[part] = true, true
			}
		}
		switch {
		case len(kinds) == 0:
		case kinds[parts[1]] && kinds[parts[2]]:
			sheet.Fail(one.place, "%s has both the open and the proprietary kernel modules of NVIDIA", one.title)
		case len(lines) > 1:
			sheet.Fail(one.place, "%s mixes lines of drivers: %s", one.title, strings.Join(nvidia(one.names), ", "))
		default:
			sheet.Pass(one.place)
		}
	}
}

// partOf is which of NVIDIA's parts an extension is, and of which line.
func partOf(name string) (part, line string, is bool) {
	for _, part := range parts {
		if line, found := strings.CutPrefix(name, part); found && slices.Contains([]string{"", "-lts", "-production"}, line) {
			return part, line, true
		}
	}
	return "", "", false
}

// nvidia are those of some extensions that are of NVIDIA's.
func nvidia(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(name, "nvidia") })
}

// oneSnapshotter wants one of them.
func oneSnapshotter(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range setsOf(all) {
		switch stargz, soci := slices.Contains(one.names, "stargz-snapshotter"), slices.Contains(one.names, "soci-snapshotter"); {
		case stargz && soci:
			sheet.Fail(one.place, "%s has both stargz-snapshotter and soci-snapshotter", one.title)
		case stargz || soci:
			sheet.Pass(one.place)
		}
	}
}
