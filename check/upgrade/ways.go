// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"slices"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// ways are the ways to upgrade, each with the words by which people name it.
var ways = map[string][]string{
	"rolling": {"rolling", "one by one", "one after another"}, "canary": {"canary", "canaries"}, "blue-green": {"blue-green", "blue/green", "blue green"},
	"pipeline": {"pipeline", "automatic", "workflow"},
}

// way says whether a cluster is upgraded in one of the ways, by what was decided.
func way(cluster *facts.Cluster, name string) bool {
	decision, ok := cluster.Decision(api.DecisionUpgrades)
	if !ok {
		return false
	}
	single := strings.FieldsFunc(strings.ToLower(decision.Answer), func(r rune) bool { return !unicode.IsLetter(r) })
	return cluster.Decided(api.DecisionUpgrades, ways[name]...) || name == "pipeline" && slices.Contains(single, "ci")
}

// decided wants a way that has a name.
func decided(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		decision, ok := cluster.Decision(api.DecisionUpgrades)
		known := false
		for name := range ways {
			known = known || way(cluster, name)
		}
		switch place := cluster.At("spec.decisions"); {
		case cluster.Object == nil:
			sheet.Unknown(place, "cluster %s is not declared, so that there is no place for its decisions", cluster.Title())
		case !ok:
			sheet.Fail(place, "nobody decided how cluster %s is upgraded", cluster.Title())
		case !known:
			sheet.Fail(place, "cluster %s is upgraded by %q, which is neither rolling nor by canaries, blue-green or a pipeline", cluster.Title(), decision.Answer)
		default:
			sheet.Pass(place)
		}
	}
}

// covered wants canaries of every kind of machine, and time to watch them.
func covered(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !way(cluster, "canary") {
			continue
		}
		canaries := words(cluster.Notes[facts.NoteCanary])
		missing := untried(cluster, canaries)
		switch place := cluster.At("metadata.annotations"); {
		case len(canaries) == 0:
			sheet.Fail(place, "cluster %s is upgraded by canaries, and nobody notes which: check.minos.dev/canary", cluster.Title())
		case len(missing) > 0:
			sheet.Fail(place, "among the canaries of cluster %s there is no machine of %s", cluster.Title(), strings.Join(missing, ", "))
		case cluster.Notes[facts.NoteCanarySoak] == "":
			sheet.Fail(place, "for how long the canaries of cluster %s are watched is not noted: check.minos.dev/canary-soak", cluster.Title())
		default:
			sheet.Pass(place)
		}
	}
}

// untried are the kinds of machines that are not among the canaries.
func untried(cluster *facts.Cluster, canaries []string) []string {
	var tried, missing []string
	for _, pool := range cluster.Pools {
		if slices.Contains(canaries, pool.Object.Name) {
			tried = append(tried, kinds(pool)...)
		}
	}
	for _, pool := range cluster.Pools {
		for _, kind := range kinds(pool) {
			if !slices.Contains(tried, kind) && !slices.Contains(missing, kind) {
				missing = append(missing, kind)
			}
		}
	}
	return missing
}

// kinds are what a canary of a pool stands for.
func kinds(pool *facts.Pool) []string {
	found := []string{"role " + string(pool.Object.Spec.Role)}
	if architecture := pool.Object.Spec.Architecture; architecture != "" {
		found = append(found, "architecture "+string(architecture))
	}
	for _, machine := range pool.Machines {
		if maker, _ := machine.GPU(); maker != "" && len(found) < 3 {
			found = append(found, "graphics of "+maker)
		}
	}
	return found
}

// staged wants something else to be upgraded before production.
func staged(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !cluster.Production() {
			continue
		}
		own, err := parse(cluster.TalosVersion())
		trial, newest := tried(all)
		ahead := err == nil && trial != "" && newest.GE(own)
		switch place := cluster.At("spec.talosVersion"); {
		case cluster.Notes[facts.NoteStaging] != "" || ahead:
			sheet.Pass(place)
		case trial == "":
			sheet.Fail(place, "cluster %s is in production, and there is no other cluster on which an upgrade is tried first", cluster.Title())
		case err != nil:
			sheet.Unknown(place, "which Talos cluster %s should have is not known", cluster.Title())
		default:
			sheet.Fail(place, "cluster %s is in production and gets Talos %s before any other: cluster %s has an older one", cluster.Title(), show(own), trial)
		}
	}
}

// tried is the newest Talos of clusters that are not in production, and which has it; nothing if there is none.
func tried(all *facts.Facts) (title string, newest semver.Version) {
	for _, cluster := range all.Clusters {
		if version, err := parse(cluster.TalosVersion()); !cluster.Production() && err == nil && (title == "" || version.GT(newest)) {
			title, newest = cluster.Title(), version
		}
	}
	return title, newest
}

// bounded wants control planes to go one at a time, and never all workers of a pool at once.
func bounded(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		count := max(1, facts.Count(pool.Machines))
		surge, away := budget(pool, count)
		switch place := pool.At("spec.rollout"); {
		case pool.Role.Spec.MachineType == api.MachineControlPlane && away > 1:
			sheet.Fail(place, "%d control planes of pool %s may be away at once: etcd loses its majority when a second one of three is gone", away, pool.Object.Name)
		case pool.Role.Spec.MachineType == api.MachineControlPlane && surge > 1:
			sheet.Fail(place, "%d control planes of pool %s may be added at once: etcd takes one new member at a time", surge, pool.Object.Name)
		case count > 1 && away >= count:
			sheet.Fail(place, "all %d machines of pool %s may be away at once", count, pool.Object.Name)
		default:
			sheet.Pass(place)
		}
	}
}

// budget is how many machines a roll-out of a pool may add, and how many may be away: what the pool says, or its cluster, or what
// happens where nobody says it.
func budget(pool *facts.Pool, count int) (surge, away int) {
	most, least := intstr.FromInt32(1), intstr.FromInt32(0)
	if pool.Object.Spec.Machine.Metal != nil {
		most, least = least, most
	}
	for _, said := range []*api.Rollout{pool.Cluster.Object.Spec.Rollout, pool.Object.Spec.Rollout} {
		if said != nil && said.MaxSurge != nil {
			most = *said.MaxSurge
		}
		if said != nil && said.MaxUnavailable != nil {
			least = *said.MaxUnavailable
		}
	}
	surge, _ = intstr.GetScaledValueFromIntOrPercent(&most, count, true) // what is no number and no share is no declaration
	away, _ = intstr.GetScaledValueFromIntOrPercent(&least, count, false)
	return surge, away
}
