// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// paired wants two clusters that can stand beside each other, each of which can do the work of both.
func paired(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !way(cluster, "blue-green") {
			continue
		}
		place := cluster.At("spec.decisions")
		other := partner(all, cluster)
		if other == nil {
			sheet.Fail(place, "cluster %s is upgraded by building another beside it, and which one is not known: check.minos.dev/blue-green", cluster.Title())
			continue
		}
		wrong := apart(cluster, other)
		if own, others := facts.Count(cluster.Machines), facts.Count(other.Machines); others < own {
			wrong = append(wrong, fmt.Sprintf("it has %d machines, and cannot do the work of %d", others, own))
		}
		if cluster.Notes[facts.NoteCutOver] == "" && other.Notes[facts.NoteCutOver] == "" {
			wrong = append(wrong, "how traffic moves is not noted: check.minos.dev/cut-over")
		}
		if len(wrong) > 0 {
			sheet.Fail(place, "cluster %s is to take over from cluster %s, and %s", other.Title(), cluster.Title(), strings.Join(wrong, "; "))
			continue
		}
		sheet.Pass(place)
	}
}

// partner is the cluster that takes over: the noted one; or the one whose name differs by the colour.
func partner(all *facts.Facts, cluster *facts.Cluster) *facts.Cluster {
	colours := []string{strings.Replace(cluster.Name, "blue", "green", 1), strings.Replace(cluster.Name, "green", "blue", 1)}
	for _, other := range all.Clusters {
		noted := cluster.Notes[facts.NoteBlueGreen]
		if other != cluster && (other.Name == noted || other.Title() == noted || noted == "" && slices.Contains(colours, other.Name)) {
			return other
		}
	}
	return nil
}

// apart says what two clusters share that they may not.
func apart(one, other *facts.Cluster) []string {
	var wrong []string
	if one.Name == other.Name {
		wrong = append(wrong, "both have the name "+one.Name)
	}
	if host := endpoint(one); host != "" && host == endpoint(other) {
		wrong = append(wrong, "both have the endpoint "+host)
	}
	others := networks(other)
	for _, prefix := range networks(one) {
		if slices.ContainsFunc(others, prefix.Overlaps) {
			wrong = append(wrong, fmt.Sprintf("both use %s", prefix))
			break
		}
	}
	return wrong
}

// endpoint is where a cluster's API server is reached; empty if nobody says.
func endpoint(cluster *facts.Cluster) string {
	if cluster.Object == nil || cluster.Object.Spec.Endpoint == nil {
		return ""
	}
	return cluster.Object.Spec.Endpoint.Host
}

// networks are those of a cluster.
func networks(cluster *facts.Cluster) []netip.Prefix {
	own := cluster.Network()
	return append(facts.Prefixes(own.PodCIDRs), facts.Prefixes(own.ServiceCIDRs)...)
}
