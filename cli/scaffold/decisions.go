// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// A choice is an answer for the record, and the reason for it.
type choice struct{ answer, reason string }

// decisions are the ten lines of the checklist, in its order.
func (a *Answers) decisions() []api.Decision {
	lines := []struct {
		about api.DecisionAbout
		choice
	}{
		{api.DecisionPlatform, platforms[a.Platform]},
		{api.DecisionTopology, a.topologyChoice()},
		{api.DecisionConfiguration, managements[a.Management]},
		{api.DecisionCNI, cnis[a.CNI]},
		{api.DecisionStorage, choice{storages[a.Storage].answer, storages[a.Storage].reason}},
		{api.DecisionExtensions, a.extensionsChoice()},
		{api.DecisionSecrets, a.secretsChoice()},
		{api.DecisionUpgrades, a.upgradeChoice()},
		{api.DecisionBackup, a.backupChoice()},
		{api.DecisionEndpoint, a.endpointChoice()},
	}
	if a.hosted() {
		lines[0].choice = choice{"virtual machines, by KubeVirt", "The management cluster has the machines already, and makes and unmakes them as pools ask for it."}
		lines[2].choice = managements[ByOperator]
	}
	var all []api.Decision
	for _, line := range lines {
		all = append(all, api.Decision{About: line.about, Answer: line.answer, Reason: line.reason, Owner: a.Owner, Date: a.Date})
	}
	return all
}

var platforms = map[string]choice{
	Metal:   {"bare metal", "Full control and no hypervisor to pay for; the hardware is ours to look after."},
	Virtual: {"virtual machines", "Snapshots and clones are easy; the hypervisor costs a little."},
	Cloud:   {"cloud machines", "No hardware to look after; the machines cost money, and the system on them stays ours."},
	AtEdge:  {"edge", "The work is where its data is; there is little room, and nobody near to repair it."},
}

var managements = map[string]choice{
	ByGit:      {"Minos over Git, applied by hand", "Every change is in Git; few machines do not need a pipeline."},
	ByCI:       {"Minos over Git, applied by CI", "Every change is reviewed before it reaches a machine, and leaves a trail."},
	ByOperator: {"the Minos operator, in a management cluster", "Machines come and go by themselves, and somebody has to be awake for that."},
}

var cnis = map[string]choice{
	"flannel": {"Flannel", "Talos brings it, and it needs no care; it has no network policies unless they are turned on."},
	"cilium":  {"Cilium", "Network policies and a view into the traffic, at the price of installing and upgrading it."},
	"calico":  {"Calico", "Network policies and routing by BGP, at the price of installing and upgrading it."},
	None:      {"none of those that Minos knows", "Another network is delivered together with the workloads."},
}

var upgrades = map[string]choice{
	"rolling":    {"rolling", "One machine after another, each healthy before the next: the standard way."},
	"canary":     {"canary", "One machine of each role first, the others after it has run well for a day."},
	"blue-green": {"blue-green", "A second cluster is proved before the switch, at the price of twice the machines for a while; patches of one cluster still go one machine after another."},
}

// upgradeChoice is how versions move forward. A cluster with an etcd of its own has a copy of it taken first, since an upgrade of
// etcd cannot be undone.
func (a *Answers) upgradeChoice() choice {
	chosen := upgrades[a.Upgrades]
	if !a.hosted() {
		chosen.answer += ", after a snapshot of etcd"
	}
	return chosen
}

// topologyChoice is how many control planes there are, and who works there.
func (a *Answers) topologyChoice() choice {
	if a.hosted() {
		return choice{"a hosted control plane, two copies", "The management cluster keeps it alive, and its state is in a data store of its own."}
	}
	where, why := "without workloads on them", " Workloads cannot starve it."
	if a.Workloads {
		where, why = "with workloads on them", " Workloads may compete with it, which few machines make worth it."
	}
	switch a.ControlPlanes {
	case 1:
		return choice{"one control plane, " + strings.Replace(where, "them", "it", 1), "There is room for one, and it is a single point of failure: the backup counts." + why}
	case 3:
		return choice{"three control planes, " + where, "The control plane survives the loss of one machine." + why}
	}
	return choice{"five control planes, " + where, "The control plane survives the loss of two machines at once; etcd writes a little slower." + why}
}

// extensionsChoice is which extensions there are beyond those of the storage.
func (a *Answers) extensionsChoice() choice {
	if len(a.Extensions) == 0 {
		return choice{"none beyond those of the storage", "The hardware works with what Talos has."}
	}
	return choice{strings.Join(a.Extensions, ", "), "What the hardware needs, and nothing that a role does not: an extension cannot be switched off."}
}

// secretsChoice is who keeps secrets.
func (a *Answers) secretsChoice() choice {
	if a.hosted() {
		return choice{"Secrets of the management cluster", "The operator makes the cluster's keys and tokens, and none of them is in Git."}
	}
	return choice{"encrypted in Git, with SOPS and age", "Whoever has one of the age keys has the cluster; whoever has the repository has nothing."}
}

// backupChoice is how etcd is saved.
func (a *Answers) backupChoice() choice {
	reason := a.BackupReason
	switch {
	case reason != "":
	case a.Backup == None:
		reason = "Nobody would miss the cluster."
	default:
		reason = "A lost etcd is a lost cluster: kept elsewhere, encrypted, and tried out before it is needed."
	}
	return choice{a.Backup, reason}
}

// endpointChoice is how the API server is reached.
func (a *Answers) endpointChoice() choice {
	switch {
	case a.hosted() && a.Endpoint == "":
		return choice{"the load balancer of the hosted control plane", "It gets its address when it is made."}
	case a.Link != "":
		return choice{"an address that the control planes share", "Whichever control plane leads has the address; nothing else has to run for it."}
	case a.ControlPlanes == 1 && a.Endpoint == a.planes()[0].Address:
		return choice{"the one control plane itself", "With one machine there is nothing to choose from; a name would make it easier to add two more later."}
	}
	return choice{"a load balancer or a name", "It stays the same whichever control planes there are."}
}
