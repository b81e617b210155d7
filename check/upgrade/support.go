// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"time"

	"github.com/blang/semver/v4"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// etcds are the lines of etcd by the minor version of Talos from which on it brings them, the oldest first: 1.10 ends with 3.5, 1.11 to
// 1.13 have 3.6. The last is that of the newest Talos that is known here, to which a test holds it.
var etcds = []struct {
	since semver.Version
	line  string
}{
	{semver.MustParse("1.0.0"), "3.5"}, {semver.MustParse("1.11.0"), "3.6"}, {semver.MustParse("1.14.0"), "3.7"},
}

// etcdOf is the line of etcd that a Talos brings.
func etcdOf(version semver.Version) string {
	found := ""
	for _, one := range etcds {
		if far(one.since, version) >= 0 {
			found = one.line
		}
	}
	return found
}

// returnable wants the last step to be one that can be taken back.
func returnable(all *facts.Facts, sheet *rule.Sheet) {
	onTheWay(all, sheet, func(m *move, route []semver.Version) {
		before := route[len(route)-2]
		if m.target.LT(before) {
			return // it is a way back itself
		}
		err, known := upgradeable(m.target, before)
		noted := m.cluster.Notes[facts.NoteUpgradeRollback] != ""
		switch own, new := etcdOf(before), etcdOf(m.target); {
		case noted:
			sheet.Pass(m.place())
		case known && err != nil:
			sheet.Fail(m.place(), "cluster %s cannot go back from Talos %s to %s: %v", m.cluster.Title(), show(m.target), show(before), err)
		case m.cluster.OnTalos() && own != new:
			sheet.Fail(m.place(), "Talos %s brings etcd %s and %s brings %s: once all members are new, etcd does not start with the old one unless its own downgrade was done first", show(before), own, show(m.target), new)
		case !known || far(newest.version, m.target) > 0:
			sheet.Unknown(m.place(), "whether Talos %s can become %s again is not known to this release of Minos", show(m.target), show(before))
		default:
			sheet.Pass(m.place())
		}
	})
}

// newest is the newest minor version of Talos that is known here, and when it was released: with that day the support of the one
// before it ended.
var newest = struct {
	version semver.Version
	since   time.Time
}{semver.MustParse("1.14.0"), time.Date(2026, time.August, 27, 0, 0, 0, 0, time.UTC)}

// lasting is for how long the newest minor version that is known here is taken for the newest of all. Talos has one about every four
// months; that the next one is late by a month is our own judgement.
const lasting = 150 * 24 * time.Hour

// current wants versions that their makers still mend.
func current(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		version, err := parse(cluster.TalosVersion())
		switch place, ahead := cluster.At("spec.talosVersion"), far(newest.version, version); {
		case err != nil:
			sheet.Unknown(place, "which Talos cluster %s should have is not known", cluster.Title())
		case ahead < -1 || ahead == -1 && !all.Now.Before(newest.since):
			sheet.Fail(place, "cluster %s has Talos %s, which nobody mends any more: the support of its line ended with the release of a newer one", cluster.Title(), show(version))
		case ahead > 0:
			sheet.Unknown(place, "cluster %s has Talos %s, which is newer than this release of Minos knows", cluster.Title(), show(version))
		case ahead == 0 && all.Now.Sub(newest.since) > lasting:
			sheet.Unknown(place, "cluster %s has Talos %s, and a newer line may have been released since this release of Minos", cluster.Title(), show(version))
		default:
			sheet.Pass(place)
		}
	}
}
