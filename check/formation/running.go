// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"fmt"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// Names are the names of the tests, in their order.
func Names() []string {
	var names []string
	for _, one := range tests {
		names = append(names, one.name)
	}
	return names
}

// Kinds are the resources of Talos that the tests read of a running cluster.
func Kinds() []string {
	return []string{facts.LiveVersions, facts.LiveMachineStatuses, facts.LiveExtensionStatuses, facts.LiveServices, facts.LiveMachineConfigs}
}

// JudgeRunning has tests judge a cluster that runs, by facts whose machines are those that run: [facts.Facts.AsRunning]. Of the tests
// those are asked that are named; all, if none is.
func JudgeRunning(all *facts.Facts, only ...string) []Result {
	var ids []string
	for _, one := range tests {
		ids = append(ids, slices.Concat(one.running, one.declared)...)
	}
	slices.Sort(ids)
	heard := hear(all, slices.Compact(ids))
	found := []Result{}
	for _, cluster := range all.Clusters {
		sights := look(all, cluster)
		for _, one := range tests {
			if len(only) == 0 || slices.Contains(only, one.name) {
				found = append(found, one.judgeRunning(cluster, heard[cluster.Title()], sights))
			}
		}
	}
	return found
}

// judgeRunning has a test judge a running cluster by what the rules said of it.
func (t test) judgeRunning(cluster *facts.Cluster, rules said, sights []sight) Result {
	result := Result{Cluster: cluster.Title(), Test: t.name, Title: t.title, Live: true}
	if len(cluster.Machines) == 0 {
		result.Verdict, result.Text = Unknown, "no machine of the cluster was seen"
		return result
	}
	if !t.applies(cluster, rules) {
		result.Verdict, result.Text = NotApplicable, t.otherwise
		return result
	}
	for _, one := range sights {
		if text := t.seen(one); text != "" {
			result.Seen = append(result.Seen, one.as(text))
		}
	}
	if missing := t.missing(cluster); len(missing.Found) > 0 {
		result.Evidence = append(result.Evidence, missing)
	}
	ids := t.running
	if cluster.Object != nil {
		ids = slices.Concat(t.running, t.declared)
	}
	result.weigh(ids, rules)
	return result
}

// isDeclared is the name of the evidence that is not a rule's: that the machines which are declared run at all.
const isDeclared = "declared"

// missing are the declared machines that a test is about and that do not run.
func (t test) missing(cluster *facts.Cluster) Evidence {
	found := Evidence{Rule: isDeclared, Title: "the machines that are declared run", Verdict: Fails}
	for _, pool := range cluster.Pools {
		concerned := t.name == routing && pool.Gateways() || t.name != routing && t.name != isolation
		if runs := facts.Count(pool.Machines); concerned && runs < pool.Wanted() {
			found.Found = append(found.Found, &rule.Outcome{
				Rule: isDeclared, Verdict: rule.Failed, Severity: rule.Error, Place: pool.At("spec.replicas"),
				Text:   fmt.Sprintf("pool %s is to have %d machines of role %s, and %d were seen", pool.Object.Name, pool.Wanted(), pool.Object.Spec.Role, runs),
				Remedy: "'minos doctor' says why a machine does not join",
			})
		}
	}
	return found
}

// lacksGateway says whether a cluster that runs is declared to have a gateway, and has none.
func lacksGateway(cluster *facts.Cluster) bool {
	return cluster.Running && slices.ContainsFunc(cluster.Pools, func(pool *facts.Pool) bool { return pool.Gateways() && len(pool.Machines) == 0 })
}

// declaredRoles are the roles of a cluster's workers, by its pools.
func declaredRoles(cluster *facts.Cluster) map[api.Name]bool {
	roles := map[api.Name]bool{}
	for _, pool := range cluster.Pools {
		if pool.Role.Spec.MachineType != api.MachineControlPlane && pool.Wanted() > 0 {
			roles[pool.Object.Spec.Role] = true
		}
	}
	return roles
}
