// SPDX-License-Identifier: Apache-2.0

// Package upgrade has the rules about new versions: whether one can become another, what has to be done before, in which way it
// reaches machines, and whether it can be taken back. What runs now is known from a note, from the state before, from what machines
// say, or from what the operator saw; without any of these it is unknown.
package upgrade

import (
	"embed"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples, slices.Concat(versions(), images(), manners(), pipelines(), circumstances())...)
}

// Inputs that several rules share.
var (
	ofDeclared = []facts.Input{facts.Spec}
	ofEither   = []facts.Input{facts.Spec, facts.Config}
)

// versions are the rules about which version can become which.
func versions() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "UPG-002", Title: "Talos takes every step of the upgrade",
			Question: "Does Talos let itself be upgraded so? It refuses to come from a version that is too old: the installer stops, and the machine stays where it is.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "go there in more steps, and note them: check.minos.dev/upgrade-from: v1.11.6, v1.12.11",
			Sources: []string{"T"}, Judge: allowed,
		},
		{
			ID: "UPG-003", Title: "every step goes to a neighbour, and stops at the newest release of a line",
			Question: "Has anybody tried this step before you? Talos lets a minor version be skipped, and is tested between neighbours only; moves of stored state that one release makes are missing when it is skipped.",
			Severity: rule.Warning, Inputs: ofEither, Remedy: "go through the newest release of every minor version in between",
			Sources: []string{"T"}, Judge: adjacent,
		},
		{
			ID: "UPG-004", Title: "the Talos that is left and the Talos that comes both run the Kubernetes of the cluster",
			Question: "Does Kubernetes run on both sides of the upgrade? Each Talos runs six minor versions of Kubernetes: outside of them kubelets do not start with the settings that they are given.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "upgrade the one first that both can bear: usually Talos, and then Kubernetes",
			Sources: []string{"T"}, Judge: supported,
		},
		{
			ID: "UPG-005", Title: "Kubernetes moves one minor version at a time, and kubelets stay near the API server",
			Question: "Can the control plane follow? Kubernetes removes in one version what the version before it still reads: who skips one may find objects that nobody reads. A kubelet may be three minor versions older than its API server, and never newer.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "take smaller steps, the control plane first",
			Sources: []string{"T"}, Judge: gradual,
		},
		{
			ID: "UPG-006", Title: "all machines of a cluster run the same Talos",
			Question: "Did the last roll-out end? Machines of two minor versions that are neighbours work together while one takes the place of the other; a machine that was forgotten cannot take part in the next upgrade.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live, facts.Spec, facts.Config}, Reads: []string{facts.LiveNodes}, Remedy: "finish the roll-out",
			Sources: []string{"F3"}, Judge: same,
		},
	}
}

// images are the rules about what is in the image that comes.
func images() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "UPG-007", Title: "every extension is there in every version on the way, under its name",
			Question: "Is the image of the new version the same machine? Extensions are renamed and dropped between minor versions: an image cannot be made, or is made without a driver.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Catalogue}, Remedy: "write the new name, or do without; 'minos image extensions' lists those of a version",
			Sources: []string{"F5", "D6"}, Judge: available,
		},
		{
			ID: "UPG-008", Title: "an upgrade keeps the image of the role",
			Question: "Are the extensions still there afterwards? An upgrade replaces the whole image: with the plain installer, drivers and firmware are gone, and a machine whose disk or graphics need them does not come back.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "upgrade with the installer of the role's schematic, in the new version",
			Sources: []string{"T", "siderolabs/talos#9369"}, Judge: kept,
		},
		{
			ID: "UPG-020", Title: "versions, extensions and configurations are fixed together by what is committed",
			Question: "Can you make again what ran last week? Where a version, an image or a schematic is not in the repository, going back means guessing, and the next machine is another one than the last.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Tree}, Remedy: "commit the declaration; without one, name images by schematic and exact version, and keep the schematics beside the configurations",
			Sources: []string{"P3"}, Judge: locked,
		},
	}
}

// manners are the rules about how a new version reaches machines.
func manners() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "UPG-001", Title: "it is decided how upgrades are done",
			Question: "Does everybody know how a new version comes: machine by machine, on a few first, on a second cluster, or by a pipeline? What nobody decided is decided at night, by whoever is there.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "record it in spec.decisions, about Upgrades",
			Sources: []string{"D6", "C8"}, Judge: decided,
		},
		{
			ID: "UPG-009", Title: "canaries are of every role, architecture and graphics, and are watched for a while",
			Question: "Would the first machines show what the others suffer? A kind of machine that is not among them is upgraded untried, and a fault that takes an hour to show is everywhere by then.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "note the pools that go first and for how long they are watched: check.minos.dev/canary and canary-soak",
			Sources: []string{"D6", "A5"}, Judge: covered,
		},
		{
			ID: "UPG-010", Title: "another cluster is upgraded before production",
			Question: "Has this version run your workloads anywhere before? Whoever tries it in production first finds out there.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "upgrade a cluster first whose environment is not Production, or note where it is tried: check.minos.dev/staging",
			Sources: []string{"A5"}, Judge: staged,
		},
		{
			ID: "UPG-011", Title: "control planes are upgraded one at a time, and never all workers at once",
			Question: "Does the cluster live while it is upgraded? Two of three control planes away at once stop etcd, and with it every change; all workers away at once stop everything.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "set maxUnavailable and maxSurge of spec.rollout to 1 or less for control planes, and maxUnavailable to a part of the workers",
			Sources: []string{"D6"}, Judge: bounded,
		},
		{
			ID: "UPG-012", Title: "two clusters that take over from each other are apart, equally strong, and somebody knows how to switch",
			Question: "Can the second cluster stand beside the first and do its work? With the same name, addresses or endpoint the two cannot run together, and without a way to switch there is none back.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "give it a name, networks and an endpoint of its own and as many machines, and note the switch: check.minos.dev/cut-over",
			Sources: []string{"D6"}, Judge: paired,
		},
	}
}

// pipelines are the rules about what is done around an upgrade.
func pipelines() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "UPG-013", Title: "a pipeline that upgrades is let through by somebody, looks at the result, and can go back",
			Question: "What does the pipeline do when the upgrade goes wrong? One that only upgrades goes on to the next machine.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Workflows}, Remedy: "have it wait for a protected environment, run 'talosctl health' after every machine, and 'talosctl rollback' if that fails",
			Sources: []string{"D6"}, Judge: guarded,
		},
		{
			ID: "UPG-014", Title: "after an upgrade machines are Ready, have ended their boot, and run what they should",
			Question: "Did the upgrade work? A Node is Ready before the boot of its machine ended; a boot that does not end falls back to the old version after 70 minutes, without a word.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveNodes, facts.LiveMachineStatuses, facts.LiveServices}, Remedy: "look at what the machine waits for, and roll it back if that cannot be mended: 'talosctl rollback'",
			Sources: []string{"F6"}, Judge: back,
		},
		{
			ID: "UPG-015", Title: "etcd is copied before an upgrade",
			Question: "Is there a way back when the upgrade breaks etcd? A copy from last night lacks today, and a newer etcd does not give its data back to an older one.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Workflows}, Remedy: "run 'talosctl etcd snapshot' first, or note how it is done: check.minos.dev/upgrade-snapshot",
			Sources: []string{"C9"}, Judge: copied,
		},
		{
			ID: "UPG-016", Title: "the upgrade can be taken back",
			Question: "Can the machines go back to what they run now? Talos refuses to become a version that is too old, and a new line of etcd keeps its data in a form that the old one does not start with.",
			Severity: rule.Warning, Inputs: ofEither, Remedy: "note how you would go back: check.minos.dev/upgrade-rollback; etcd's own downgrade, or the copy that was made first",
			Sources: []string{"P3"}, Judge: returnable,
		},
	}
}

// circumstances are the rules about what lies in the way.
func circumstances() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "UPG-017", Title: "disruption budgets let machines be drained",
			Question: "Can a machine be emptied? A budget that lets no pod go stops the drain, and with it the upgrade, until somebody loses patience.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Manifests}, Remedy: "let at least one pod go: more replicas, or maxUnavailable: 1",
			Sources: []string{"T"}, Judge: drainable,
		},
		{
			ID: "UPG-018", Title: "the Talos of a cluster is still mended",
			Question: "Are holes closed in the version that you run? Only the newest minor version of Talos gets fixes from its community.",
			Severity: rule.Warning, Inputs: ofEither, Remedy: "upgrade to the newest minor version",
			Sources: []string{"T"}, Judge: current,
		},
		{
			ID: "UPG-019", Title: "what a version needs to be done before it is done",
			Question: "Does something stop with the new version that works today? From 1.13 graphics of NVIDIA are handed out by an operator; from 1.14 there is no installer at ghcr.io, isolated workloads have no in-tree iSCSI, the mode reboot is gone, and disks have documents.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Config, facts.Manifests, facts.Tree}, Remedy: "do it first, on the version that runs now",
			Sources: []string{"T"}, Judge: prepared,
		},
	}
}
