// SPDX-License-Identifier: Apache-2.0

package fleets

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// distinct finds clusters that cannot be told apart, or could not be connected.
func distinct(all *facts.Facts, sheet *rule.Sheet) {
	names := map[string]*facts.Cluster{}
	shared := sharing(all.Clusters)
	for at, cluster := range all.Clusters {
		fine := true
		if other, taken := names[cluster.Name]; taken {
			fine = false
			sheet.Fail(cluster.At("metadata.name"), "cluster %s has the name of cluster %s", cluster.Title(), other.Title())
		}
		names[cluster.Name] = cluster
		if with, ok := shared[at]; ok {
			fine = false
			sheet.Fail(cluster.At("spec.network"), "cluster %s and cluster %s both use %s", cluster.Title(), all.Clusters[with.cluster].Title(), with.prefix)
		}
		if fine && len(all.Clusters) > 1 {
			sheet.Pass(cluster.At("metadata.name"))
		}
	}
}

// A network is one of a cluster.
type network struct {
	prefix  netip.Prefix
	cluster int
}

// sharing finds, for every cluster, an earlier one with which it shares addresses. The networks of all are sorted, so that those which
// hold another stand before it, and not every cluster is compared with every other.
func sharing(clusters []*facts.Cluster) map[int]network {
	var networks []network
	for at, cluster := range clusters {
		own := cluster.Network()
		for _, prefix := range facts.Prefixes(append(append([]api.CIDR{}, own.PodCIDRs...), own.ServiceCIDRs...)) {
			networks = append(networks, network{prefix.Masked(), at})
		}
	}
	slices.SortStableFunc(networks, func(a, b network) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()), cmp.Compare(a.cluster, b.cluster))
	})
	found := map[int]network{}
	var around []network // those that hold the one that is looked at, the widest first
	for _, one := range networks {
		for len(around) > 0 && !around[len(around)-1].prefix.Overlaps(one.prefix) {
			around = around[:len(around)-1]
		}
		foreign := func(other network) bool { return other.cluster != one.cluster }
		if at := slices.IndexFunc(around, foreign); at >= 0 {
			// The widest and the nearest are enough: those between them were compared before.
			for _, other := range []network{around[at], nearest(around, foreign)} {
				later, earlier := max(one.cluster, other.cluster), min(one.cluster, other.cluster)
				if _, known := found[later]; !known {
					found[later] = network{one.prefix, earlier}
				}
			}
		}
		around = append(around, one)
	}
	return found
}

// nearest is the last network that is so; there is one.
func nearest(networks []network, so func(network) bool) network {
	at := len(networks) - 1
	for !so(networks[at]) {
		at--
	}
	return networks[at]
}

// together finds clusters whose Talos is more than one minor older than the newest of the fleet.
func together(all *facts.Facts, sheet *rule.Sheet) {
	newest := semver.Version{}
	for _, cluster := range all.Clusters {
		if version, err := semver.ParseTolerant(string(cluster.TalosVersion())); err == nil && version.GT(newest) {
			newest = version
		}
	}
	for _, cluster := range all.Clusters {
		version, err := semver.ParseTolerant(string(cluster.TalosVersion()))
		switch {
		case len(all.Clusters) < 2:
		case err != nil:
			sheet.Unknown(cluster.At("spec.talosVersion"), "the Talos version of cluster %s is not known", cluster.Title())
		case version.Major != newest.Major || version.Minor+1 < newest.Minor:
			sheet.Fail(cluster.At("spec.talosVersion"), "cluster %s has Talos %s, and another has %s", cluster.Title(), version, newest)
		default:
			sheet.Pass(cluster.At("spec.talosVersion"))
		}
	}
}

// sameRoles finds roles that are another image elsewhere.
func sameRoles(all *facts.Facts, sheet *rule.Sheet) {
	first := map[string]*facts.SchematicFact{}
	for _, schematic := range all.Schematics {
		name := schematic.RoleName()
		other, known := first[name]
		switch {
		case schematic.ID == "": // what cannot be read is said elsewhere
		case !known:
			first[name] = schematic
		case other.Place.File == schematic.Place.File && other.Place.Cluster == schematic.Place.Cluster:
		case other.ID != schematic.ID:
			sheet.Fail(schematic.Place, "role %s has the schematic %.12s here, and %.12s in %s", name, schematic.ID, other.ID, other.Place.File)
		default:
			sheet.Pass(schematic.Place)
		}
	}
}

// lines are the lines of the checklist.
var lines = []api.DecisionAbout{
	api.DecisionPlatform, api.DecisionTopology, api.DecisionConfiguration, api.DecisionCNI, api.DecisionStorage, api.DecisionExtensions,
	api.DecisionSecrets, api.DecisionUpgrades, api.DecisionBackup, api.DecisionEndpoint,
}

// decided finds lines of the checklist that nobody settled.
func decided(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if cluster.Object == nil {
			sheet.Unknown(cluster.At(""), "cluster %s is not declared, so that there is no place for its decisions", cluster.Title())
			continue
		}
		var open []string
		for _, line := range lines {
			if _, ok := cluster.Decision(line); !ok {
				open = append(open, string(line))
			}
		}
		if len(open) > 0 {
			sheet.Fail(cluster.At("spec.decisions"), "%s of the checklist: nothing is recorded about %s", count(len(open)), strings.Join(open, ", "))
			continue
		}
		sheet.Pass(cluster.At("spec.decisions"))
	}
}

// count says how many lines.
func count(lines int) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}
