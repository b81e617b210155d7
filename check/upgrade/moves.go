// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
)

// A move is what is about to change on a cluster.
type move struct {
	cluster *facts.Cluster
	// target is the Talos that is wanted, and routes the ways to it: each begins with what runs now and ends with what is wanted.
	// There is none if nothing is to change, or if it is not known; then unknown says why.
	target  semver.Version
	routes  [][]semver.Version
	unknown string
	// running is what its machines say that they run.
	running []facts.Running
}

// nobodys is the cluster of machines of which nothing but what they run is known.
var nobodys = &facts.Cluster{Name: "unnamed", Environment: api.EnvironmentProduction}

// movesOf are what is about to change on all clusters.
func movesOf(all *facts.Facts) []*move {
	running := map[*facts.Cluster][]facts.Running{}
	for _, one := range all.Running() {
		running[one.Cluster] = append(running[one.Cluster], one)
	}
	clusters := all.Clusters
	if len(clusters) == 0 && len(running[nil]) > 0 { // what runs can be judged even if nobody says what it should be
		clusters = []*facts.Cluster{nobodys}
		running[nobodys] = running[nil]
	}
	var found []*move
	for _, cluster := range clusters {
		m := &move{cluster: cluster, running: running[cluster]}
		m.find(all.Earlier(cluster))
		found = append(found, m)
	}
	return found
}

// place is where people change the version.
func (m *move) place() facts.Place { return m.cluster.At("spec.talosVersion") }

// find finds the ways to the wanted version: the one that somebody noted; or, straight, from what the state before declares and from
// what machines run.
func (m *move) find(before *api.TalosCluster) {
	var err error
	if m.target, err = parse(m.cluster.TalosVersion()); err != nil {
		m.unknown = fmt.Sprintf("which Talos cluster %s should have is not known", m.cluster.Title())
		return
	}
	if noted := m.cluster.Notes[facts.NoteUpgradeFrom]; noted != "" {
		m.noted(noted)
		return
	}
	var from []semver.Version
	if before != nil {
		if version, err := parse(before.Spec.TalosVersion); err == nil {
			from = append(from, version)
		}
	}
	for _, one := range m.running {
		if version, err := parse(one.Talos); err == nil {
			from = append(from, version)
		}
	}
	if len(from) == 0 {
		m.unknown = fmt.Sprintf("which Talos cluster %s runs now is not known: note it as check.minos.dev/upgrade-from, give the state before, or save what runs", m.cluster.Title())
	}
	for _, version := range distinct(from) {
		if !version.EQ(m.target) {
			m.routes = append(m.routes, []semver.Version{version, m.target})
		}
	}
}

// noted takes the way that somebody noted.
func (m *move) noted(text string) {
	var route []semver.Version
	for _, word := range words(text) {
		version, err := parse(word)
		if err != nil {
			m.unknown = fmt.Sprintf("the note upgrade-from of cluster %s says %q, which is no version", m.cluster.Title(), word)
			return
		}
		route = append(route, version)
	}
	if len(route) > 0 && !route[len(route)-1].EQ(m.target) {
		route = append(route, m.target)
	}
	if len(route) > 1 {
		m.routes = append(m.routes, route)
	}
}

// words are the parts of a list that people write.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// parse reads a version.
func parse[T ~string](text T) (semver.Version, error) { return semver.ParseTolerant(string(text)) }

// distinct are versions without doubles, the oldest first.
func distinct(versions []semver.Version) []semver.Version {
	slices.SortFunc(versions, semver.Version.Compare)
	return slices.CompactFunc(versions, semver.Version.EQ)
}

// show is a version as people write it.
func show(version semver.Version) string { return "v" + version.String() }

// far is how many minor versions lie between two; a thousand for each major one.
func far(from, to semver.Version) int {
	const major = 1000
	return major*(int(to.Major)-int(from.Major)) + int(to.Minor) - int(from.Minor)
}
