// SPDX-License-Identifier: Apache-2.0

// Package machineconfig has the rules about machine configurations: how they are made and applied, whether Talos takes them, and what
// should not stand in them.
package machineconfig

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
	return rule.Set(examples, slices.Concat(managed(), sources(), forms(), pipelines(), surroundings(), installers(), contents())...)
}

// managed are the rules about how configurations are managed.
func managed() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-001", Title: "it is named how machine configurations are made, kept and applied",
			Question: "Does everybody know the one way by which a machine gets its configuration? Where nobody says it, one person renders, another one edits what runs, and the next change undoes one of them.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Config},
			Remedy:  "decide, and record it in spec.decisions under Configuration, or note it as check.minos.dev/configuration",
			Sources: []string{"D3", "C3"}, Judge: named,
		},
		{
			ID: "CFG-010", Title: "configurations are made by hand for three machines at most, or for development",
			Question: "Can somebody still look through all configurations that were made by hand? Beyond a handful, one of them misses a change, and nobody notices until that machine behaves differently.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "make them from one declaration, with Minos or with talhelper",
			Sources: []string{"D3", "P1"}, Judge: small,
		},
		{
			ID: "CFG-012", Title: "Cluster API is used for several clusters, or for those that come and go",
			Question: "Is the management cluster worth its upkeep? Cluster API needs a cluster of its own, with providers and upgrades; for one cluster that stays, that is a second cluster to look after.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Spec, facts.Config, facts.Manifests}, Remedy: "use a simpler tool, or record in the decision's reason why clusters come and go",
			Sources: []string{"P2", "D3"}, Judge: worth,
		},
		{
			ID: "CFG-013", Title: "with Omni, it is noted how machines would leave it",
			Question: "What if the service ends, or its price rises? Omni keeps the configurations and the keys of the machines: without an export they cannot be administered by anybody else.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "note how configurations and secrets are exported: check.minos.dev/way-out",
			Sources: []string{"D3"}, Judge: leaving,
		},
	}
}

// sources are the rules about where configurations are kept.
func sources() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-002", Title: "what every machine's configuration is made from is committed",
			Question: "Can a machine be made again by somebody else? A configuration that lies on one person's disk is gone with it, and nobody sees what changed in it.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree, facts.Spec}, Remedy: "commit it, with its secrets encrypted; or what it is rendered from",
			Sources: []string{"F1", "A4"}, Judge: committed,
		},
		{
			ID: "CFG-003", Title: "machines run with the configuration that is here",
			Question: "Is what runs what the repository says? A change that somebody made on the machine is lost with the next apply, and until then nobody knows why it works. Secrets are not compared.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Live}, Reads: []string{facts.LiveMachineConfigs}, Remedy: "apply the configuration again, or take over what runs",
			Sources: []string{"F1", "A4"}, Judge: same,
		},
		{
			ID: "CFG-009", Title: "changes of configurations are looked at by somebody",
			Question: "Does a second person see a change before machines get it? One line can take all control planes off the network at once.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Tree}, Remedy: "add a CODEOWNERS file that covers the configurations, and require its reviews on the branch",
			Sources: []string{"A4"}, Judge: reviewed,
		},
	}
}

// forms are the rules about what Talos takes.
func forms() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-004", Title: "Talos reads the configuration and takes it",
			Question: "Would the machine accept its configuration? A key with a slip of the pen or a value that Talos refuses shows when it is applied; on a new machine that means one that never comes up.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Spec}, Remedy: "correct what the line names; 'talosctl validate' says the same",
			Sources: []string{"T"}, Judge: accepted,
		},
		{
			ID: "CFG-005", Title: "no document is newer than the machine's Talos",
			Question: "Does the machine know every document of its configuration? Each kind came with some version: an older Talos refuses the whole configuration, and one that is installed with it does not boot.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Spec}, Remedy: "use the old field that the document replaced, or upgrade Talos first",
			Sources: []string{"T"}, Judge: known,
		},
		{
			ID: "CFG-006", Title: "a setting is made by the old field or by the document that replaces it, not by both",
			Question: "Which of two settings would hold? Talos does not choose: it refuses a configuration that has a document and the old field beside it.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "keep the document and take the old field out",
			Sources: []string{"T"}, Judge: once,
		},
		{
			ID: "CFG-007", Title: "from Talos 1.14, no old field is used that a document replaced",
			Question: "Which fields have to move one day? They still work; new settings come to the documents only, and a field that is gone makes an upgrade fail.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "move the fields that are listed to their documents, one kind at a time",
			Sources: []string{"T"}, Judge: current,
		},
	}
}

// pipelines are the rules about how configurations reach machines.
func pipelines() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-008", Title: "a pipeline applies configurations from a protected branch, and no script does beside it",
			Question: "Can a change reach machines that nobody reviewed? A script with the address of a production machine in it, or a job that runs for every branch, goes around everything that a review is for.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Workflows, facts.Tree}, Remedy: "have a job apply configurations that is bound to the protected branch, and take the script out",
			Sources: []string{"A4", "D3", "P1"}, Judge: applied,
		},
		{
			ID: "CFG-011", Title: "Terraform or Pulumi have a fixed provider, and their state is elsewhere and encrypted",
			Question: "Does the same come out tomorrow, and who can read the state? A provider without a fixed version changes under the same files; the state holds every secret of the cluster in clear.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "commit the lock file, and keep the state where it is encrypted; after a commit of the state replace all secrets",
			Sources: []string{"D3"}, Judge: stated,
		},
		{
			ID: "CFG-014", Title: "talosctl, talhelper and kubectl have fixed versions, and talosctl that of the machines",
			Question: "Does everybody get the same result from the same command? A talosctl of another minor version renders other defaults, and does not know fields of the machines.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Tree, facts.Spec}, Remedy: "pin the tools with mise, asdf, aqua or Nix, talosctl at the minor version of Talos",
			Sources: []string{"X", "X Nix", "P1"}, Judge: pinned,
		},
	}
}
