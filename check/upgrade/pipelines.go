// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// guarded wants workflows that upgrade to be let through, to look, and to go back.
func guarded(all *facts.Facts, sheet *rule.Sheet) {
	found := false
	for _, workflow := range all.Workflows {
		some := upgrades(workflow)
		if len(some) == 0 {
			continue
		}
		found = true
		var missing []string
		if len(workflow.Environments) == 0 && !workflow.Manual {
			missing = append(missing, "nobody lets it go on: a protected environment or a start by hand")
		}
		if !does(workflow, asking) {
			missing = append(missing, "nothing asks whether the cluster is well afterwards: talosctl health")
		}
		if !does(workflow, returning) {
			missing = append(missing, "nothing goes back if it is not: talosctl rollback")
		}
		place := all.InDocument(workflow.Document, some[0].Path)
		if len(missing) > 0 {
			sheet.Fail(place, "this workflow upgrades, and %s", strings.Join(missing, "; "))
			continue
		}
		sheet.Pass(place)
	}
	for _, cluster := range all.Clusters {
		if !found && way(cluster, "pipeline") {
			sheet.Unknown(cluster.At("spec.decisions"), "cluster %s is upgraded by a pipeline, and no workflow here does it", cluster.Title())
		}
	}
}

// copied wants a copy of etcd before an upgrade: in the workflow that upgrades; or, where none does, by what people say.
func copied(all *facts.Facts, sheet *rule.Sheet) {
	found := false
	for _, workflow := range all.Workflows {
		for _, upgrade := range upgrades(workflow) {
			found = true
			if place := all.InDocument(workflow.Document, upgrade.Path); first(workflow, upgrade) {
				sheet.Pass(place)
			} else {
				sheet.Fail(place, "this upgrades, and nothing before it copies etcd")
			}
		}
	}
	for _, cluster := range all.Clusters {
		switch {
		case found || !cluster.OnTalos():
		case cluster.Notes[facts.NoteUpgradeSnapshot] != "" || cluster.Decided(api.DecisionUpgrades, "snapshot", "backup"):
			sheet.Pass(cluster.At("spec.decisions"))
		default:
			sheet.Fail(cluster.At("spec.decisions"), "nothing says that etcd is copied before cluster %s is upgraded: no workflow, no decision and no note", cluster.Title())
		}
	}
}

// first says whether etcd is copied before a command of a workflow: in a step before, or earlier in the same one.
func first(workflow *facts.Workflow, upgrade facts.Command) bool {
	return slices.ContainsFunc(workflow.Commands, func(command facts.Command) bool {
		copies := copying.FindStringIndex(command.Text)
		if copies == nil {
			return false
		}
		if command.Path == upgrade.Path {
			return copies[0] < upgrading.FindStringIndex(upgrade.Text)[0]
		}
		return precedes(command, upgrade)
	})
}
