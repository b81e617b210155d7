// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"strings"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/extension"
)

// onTheWay has something said of every way to a wanted version, or why there is nothing to say.
func onTheWay(all *facts.Facts, sheet *rule.Sheet, say func(*move, []semver.Version)) {
	for _, m := range movesOf(all) {
		if m.unknown != "" {
			sheet.Unknown(m.place(), "%s", m.unknown)
		}
		for _, route := range m.routes {
			say(m, route)
		}
	}
}

// allowed wants steps that Talos takes.
func allowed(all *facts.Facts, sheet *rule.Sheet) {
	onTheWay(all, sheet, func(m *move, route []semver.Version) {
		for at, to := range route[1:] {
			switch err, known := upgradeable(route[at], to); {
			case !known:
				sheet.Unknown(m.place(), "whether Talos %s can become %s is not known to the library of Talos that this release of Minos has", show(route[at]), show(to))
				return
			case err != nil:
				sheet.Fail(m.place(), "cluster %s: Talos %s refuses to become %s in one step: %v", m.cluster.Title(), show(route[at]), show(to), err)
				return
			}
		}
		sheet.Pass(m.place())
	})
}

// upgradeable says why a version cannot become another, which is nil if it can; and whether that is known.
func upgradeable(from, to semver.Version) (err error, known bool) {
	host, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: show(from)})
	if err != nil {
		return err, false
	}
	target, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: show(to)})
	if err != nil || target.UpgradeableFrom(target) != nil { // a version can always become itself, if it is known at all
		return err, false
	}
	return target.UpgradeableFrom(host), true
}

// adjacent wants steps that Talos is tested for.
func adjacent(all *facts.Facts, sheet *rule.Sheet) {
	onTheWay(all, sheet, func(m *move, route []semver.Version) {
		for at, to := range route[1:] {
			if step := far(route[at], to); step > 1 || step < -1 {
				sheet.Fail(m.place(), "cluster %s goes from Talos %s to %s at once: only neighbours are tested with each other", m.cluster.Title(), show(route[at]), show(to))
				return
			}
		}
		for _, stop := range route[1 : len(route)-1] {
			if newest, known := newestOf(stop); known && stop.LT(newest) {
				sheet.Fail(m.place(), "cluster %s stops at Talos %s on its way, and that line has %s", m.cluster.Title(), show(stop), show(newest))
				return
			}
		}
		sheet.Pass(m.place())
	})
}

// newestOf is the newest release of a line that the catalogue of extensions has read. There may be newer ones, and never older.
func newestOf(version semver.Version) (newest semver.Version, known bool) {
	catalogue, err := extension.Load()
	if err != nil {
		return newest, false
	}
	for _, tag := range catalogue.Tags {
		release, err := semver.ParseTolerant(strings.TrimPrefix(tag, "v"))
		if err == nil && far(release, version) == 0 && len(release.Pre) == 0 && release.GT(newest) {
			newest, known = release, true
		}
	}
	return newest, known
}
