// SPDX-License-Identifier: Apache-2.0

// Package extensions has the rules about system extensions: whether they exist, what they need, and whether a machine that has them
// ends its boot.
package extensions

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
	return rule.Set(examples, slices.Concat(there(), boots(), fitting(), sets(), around(), running())...)
}

// there are the rules about whether extensions exist.
func there() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-001", Title: "every extension exists in the version of Talos",
			Question: "Can the image be made at all? A factory takes a schematic with any name in it, and says only when the image is asked for that there is no such extension.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "write the present name, or remove the extension: 'minos image extensions' lists those that exist",
			Sources: []string{"F5", "A3", "C6"}, Judge: exist,
		},
		{
			ID: "EXT-002", Title: "no extension is called by a name that it no longer has",
			Question: "Does the schematic mean what it says? A factory still takes some old names and puts in what they became; for NVIDIA that is another line of drivers than the one that was there before.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic}, Remedy: "write the present name; the ID of the schematic changes with it",
			Sources: []string{"F5"}, Judge: renamed,
		},
		{
			ID: "EXT-006", Title: "an extension has something for the processor of the machine",
			Question: "Is there anything in the extension for this kind of processor? Some are built for amd64 only and are empty on arm64: the image is made, and what was wanted is not in it.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Spec}, Remedy: "remove the extension from the role of these machines",
			Sources: []string{"T"}, Judge: processors,
		},
		{
			ID: "EXT-011", Title: "no extension is one that nobody looks after", Production: true,
			Question: "Who repairs the extension? Those of the tier deprecated do nothing any more or are about to go, and those of the tier contrib are dropped from a release when they fail to build.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Schematic}, Remedy: "do without it, or know what to do when a release comes without it",
			Sources: []string{"D6"}, Judge: lookedAfter,
		},
	}
}

// boots are the rules about whether a machine ends its boot.
func boots() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-003", Title: "a service that waits for its configuration has one",
			Question: "Does the boot end? Talos waits for every service of every extension, and some of these wait for a configuration of their own. Without it the machine looks Ready, reboots after 70 minutes, and goes on like that.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "add an ExtensionServiceConfig with the name of the service, or take the extension out of the image",
			Sources: []string{"ADR", "ADR test 01", "T", "siderolabs/talos#12145"}, Judge: configured,
		},
		{
			ID: "EXT-004", Title: "a configuration of a service belongs to a service of the image",
			Question: "Is the configuration read by anybody? One with the name of no service is never looked at; often the name of the extension was written, and its service is called otherwise.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "write the name of the service, add its extension to the image, or remove the configuration",
			Sources: []string{"T"}, Judge: belongs,
		},
		{
			ID: "EXT-005", Title: "a file that a service waits for is brought by something",
			Question: "Does the boot end? Some services wait for a file that a kernel module, a hypervisor or a device brings. Without that the machine looks Ready, reboots after 70 minutes, and goes on like that.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config, facts.Spec}, Remedy: "load the module, enable the channel, or use the image on machines only that have the device",
			Sources: []string{"ADR", "ADR test 01", "T", "siderolabs/talos#14373", "siderolabs/extensions#888"}, Judge: provided,
		},
	}
}

// fitting are the rules about extensions and the machine that they are for.
func fitting() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-007", Title: "hardware that needs an extension has it",
			Question: "Does Talos see the device? Firmware and drivers that are not in its kernel come as extensions, and so do the tools for iSCSI and NFS; without them the device is simply not there.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Schematic, facts.Config}, Remedy: "add the extension to the role of the machines",
			Sources: []string{"A3", "C6"}, Judge: hardware,
		},
		{
			ID: "EXT-008", Title: "a kernel module that is to be loaded exists",
			Question: "Is the module anywhere? Modules that are not part of Talos come with an extension; to load one that is not there fails at every boot, and nobody but the log says it.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config, facts.Schematic}, Remedy: "add the extension that brings the module, or do not load it",
			Sources: []string{"A3"}, Judge: modules,
		},
		{
			ID: "EXT-013", Title: "kernel settings that an extension needs are set",
			Question: "Would the extension work? gVisor makes user namespaces, of which Talos allows none unless it is told to: pods of that runtime never start.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "add the settings to machine.sysctls, or to the sysctls of the role",
			Sources: []string{"T"}, Judge: settings,
		},
	}
}

// sets are the rules about extensions beside each other.
func sets() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-009", Title: "the extensions of NVIDIA are of one line and one kind",
			Question: "Do the parts fit each other? Kernel modules, container toolkit and fabric manager must be of the same driver version: of the line lts or of production, and the modules either open or proprietary.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "use lts or production in all names, and one of the two kinds of kernel modules",
			Sources: []string{"T"}, Judge: oneLine,
		},
		{
			ID: "EXT-010", Title: "there is one snapshotter at most",
			Question: "Which program unpacks images lazily? Two snapshotters write the same part of the configuration of containerd, and one of them wins.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "keep stargz-snapshotter or soci-snapshotter",
			Sources: []string{"T"}, Judge: oneSnapshotter,
		},
	}
}

// around are the rules about what in Kubernetes relies on extensions.
func around() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-012", Title: "a runtime class leads to machines that have its runtime",
			Question: "Do pods of the runtime class start? Its handler must be one that an extension brings, and pods must land on machines with that extension only: elsewhere they stay in ContainerCreating.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests, facts.Schematic, facts.Spec}, Remedy: "write the handler of the extension, for example spin, and select its machines in scheduling.nodeSelector",
			Sources: []string{"ADR"}, Judge: handlers,
		},
	}
}

// running are the rules about machines that run.
func running() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "EXT-014", Title: "a machine runs the extensions of its role, and no others",
			Question: "Is what runs what was declared? After an upgrade with the wrong installer, or one that fell back without a word, a machine runs other extensions than its role has.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveNodes}, Remedy: "upgrade the machine to the image of its role",
			Sources: []string{"F5", "ADR", "ADR test 04"}, Judge: asDeclared,
		},
		{
			ID: "EXT-015", Title: "every service of an extension runs, and the boot has ended",
			Question: "Did the machine end its boot? A Node is Ready before that. A machine that stays in the stage booting reboots after 70 minutes, and goes on like that.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveMachineStatuses, facts.LiveServices}, Remedy: "give the service what it waits for: 'minos image boot' says what that is",
			Sources: []string{"ADR", "ADR test 01", "ADR test 02", "siderolabs/talos#13910"}, Judge: ended,
		},
	}
}
