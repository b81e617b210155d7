// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"slices"
	"strconv"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// whole wants etcd to have all its members, and no alarm.
func whole(all *facts.Facts, sheet *rule.Sheet) {
	planes := 0
	for _, node := range all.Live.Nodes {
		if labels, ok := node.Get("metadata.labels").(map[string]any); ok {
			if _, plane := labels["node-role.kubernetes.io/control-plane"]; plane {
				planes++
			}
		}
	}
	members := map[string]bool{}
	for _, member := range all.Live.Resources[facts.LiveEtcdMembers] {
		members[member.String("spec.memberID")] = true
	}
	switch {
	case len(members) == 0:
		sheet.Unknown(all.Whole(), "members of etcd were not saved: 'talosctl get etcdmembers -o json' on all control planes")
	case planes == 0:
		sheet.Unknown(all.Whole(), "how many control planes there are was not saved: 'kubectl get nodes -o json'")
	case len(members) != planes:
		sheet.Fail(all.Whole(), "etcd has %d members, and there are %d control planes", len(members), planes)
	default:
		sheet.Pass(all.Whole())
	}
	for _, diagnostic := range all.Live.Resources[facts.LiveDiagnostics] {
		if strings.Contains(diagnostic.Name(), "etcd") {
			sheet.Fail(diagnostic.At("spec.message"), "%s: %s", diagnostic.Node, diagnostic.String("spec.message"))
		}
	}
}

// longest is the time within which a disk must have a write of etcd, in 99 of 100 cases.
const longest = 10 // milliseconds

// fast wants etcd on a fast disk.
func fast(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		text := strings.TrimSpace(strings.TrimSuffix(cluster.Notes[facts.NoteFsync], "ms"))
		if measured, err := strconv.ParseFloat(text, 64); err == nil {
			if measured >= longest {
				sheet.FailAs(rule.Error, cluster.At("metadata.annotations"), "a write of etcd takes %g ms in cluster %s, and must take less than %d", measured, cluster.Title(), longest)
				continue
			}
			sheet.Pass(cluster.At("metadata.annotations"))
		}
	}
	if all.Live == nil {
		return
	}
	systems := all.Live.Resources[facts.LiveSystemDisks]
	for _, disk := range all.Live.Resources[facts.LiveDisks] {
		if !slices.ContainsFunc(systems, func(system *facts.Saved) bool {
			return system.Node == disk.Node && system.String("spec.diskID") == disk.Name()
		}) || !plane(all.Live, disk.Node) {
			continue
		}
		if why := slow(disk); why != "" {
			sheet.Fail(disk.At("spec"), "the system of control plane %s is on %s, which is %s", disk.Node, disk.Name(), why)
			continue
		}
		sheet.Pass(disk.At("spec"))
	}
}

// plane says whether a machine by its address is a control plane, as its Node says; unknown counts as one, since a slow disk is worth
// a word.
func plane(live *facts.LiveFacts, address string) bool {
	for _, node := range live.Nodes {
		addresses, _ := node.Get("status.addresses").([]any)
		for _, one := range addresses {
			if facts.Text(facts.Get(one, "address")) == address {
				labels, _ := node.Get("metadata.labels").(map[string]any)
				_, is := labels["node-role.kubernetes.io/control-plane"]
				return is
			}
		}
	}
	return true
}

// slow says why a disk is; empty if it is not.
func slow(disk *facts.Saved) string {
	switch transport := disk.String("spec.transport"); {
	case disk.String("spec.rotational") == "true":
		return "a spinning disk"
	case transport == "usb":
		return "attached by USB"
	case transport == "mmc":
		return "a card"
	}
	return ""
}

// The quotas of etcd.
const (
	usualQuota = 2 << 30
	mostQuota  = 8 << 30
)

// quota wants a quota that fits.
func quota(all *facts.Facts, sheet *rule.Sheet) {
	each(all, func(cluster *facts.Cluster, machine *facts.Machine) {
		own := machine.Config.Cluster()
		if own == nil || own.Etcd() == nil {
			return
		}
		set := int64(usualQuota)
		if given := own.Etcd().ExtraArgs()["quota-backend-bytes"]; len(given) > 0 {
			set, _ = strconv.ParseInt(given[0], 10, 64)
		}
		place := machine.At("cluster.etcd.extraArgs")
		much := cluster.Decided(api.DecisionStorage, "linstor") || slices.ContainsFunc(all.Values, func(values *facts.Values) bool {
			return strings.Contains(values.Chart, "piraeus") || strings.Contains(values.Chart, "linstor")
		})
		switch {
		case set > mostQuota:
			sheet.Fail(place, "etcd of %s may have %d bytes, and more than 8 GiB is not supported", machine.Name, set)
		case much && set <= usualQuota:
			sheet.Fail(place, "LINSTOR keeps much in the API, and etcd of %s may have no more than 2 GiB", machine.Name)
		case much || set != usualQuota:
			sheet.Pass(place)
		}
	})
}
