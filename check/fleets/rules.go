// SPDX-License-Identifier: Apache-2.0

// Package fleets has the rules about several clusters together.
package fleets

import (
	"embed"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples,
		&rule.Rule{
			ID: "FLT-001", Title: "names and networks of clusters are their own",
			Question: "Can two clusters of the fleet be told apart, and could they be connected? Clusters with one name are confused in kubeconfigs and dashboards, and clusters with one network can never be joined by a mesh or a VPN.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec}, Remedy: "rename one of the clusters, or choose another network before it is made",
			Sources: []string{"X"}, Judge: distinct,
		},
		&rule.Rule{
			ID: "FLT-002", Title: "Talos versions in the fleet are at most one minor apart",
			Question: "Do all clusters run nearly the same Talos? Versions that are far apart have different configuration documents and extensions, and whoever looks after them has to know both.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Live}, Remedy: "upgrade the oldest cluster",
			Sources: []string{"X", "F3"}, Judge: together,
		},
		&rule.Rule{
			ID: "FLT-003", Title: "a role means the same image in all clusters",
			Question: "Is a machine of a role the same wherever it is? A role that means one set of extensions here and another there makes what was tested in one cluster worthless in another.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Schematic}, Remedy: "use one definition of the role, or give the other a name of its own",
			Sources: []string{"X", "P3"}, Judge: sameRoles,
		},
		&rule.Rule{
			ID: "FLT-004", Title: "every line of the checklist has a decision with its date and its owner",
			Question: "Does somebody who comes later find out what was decided, by whom and when? Ten lines are to be settled before a cluster is final: platform, topology, configuration, CNI, storage, extensions, secrets, upgrades, backup, endpoint.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec}, Remedy: "add the line to spec.decisions, with answer, owner and date",
			Sources: []string{"C1-C10"}, Judge: decided,
		},
	)
}
