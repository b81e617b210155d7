// SPDX-License-Identifier: Apache-2.0

// Package platform has the rules about where machines run: the platform, its images, the hypervisor, and sizes.
package platform

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
	return rule.Set(examples, slices.Concat(known(), metal(), hypervisors(), clouds(), others())...)
}

// known are the rules about what Talos knows of a platform.
func known() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "PLT-001", Title: "every machine names a platform that Talos knows",
			Question: "Which image does the machine boot, and where does it find its configuration? Both follow from the platform, and an image of another platform looks for its configuration where there is none.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "choose a platform of 'minos image list', or note it: check.minos.dev/platform",
			Sources: []string{"D1", "C1"}, Judge: named,
		},
		{
			ID: "PLT-002", Title: "the platform has images for the processor, and an overlay is for boards of metal with arm64",
			Question: "Is there an image at all? Some platforms have only one architecture, and overlays for single-board computers exist for arm64 machines of metal alone.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Schematic}, Remedy: "change the architecture, or remove the overlay from the schematic",
			Sources: []string{"D1"}, Judge: architecture,
		},
		{
			ID: "PLT-003", Title: "machines are started in a way that the platform has",
			Question: "Can the platform boot what was asked for? Most clouds take a disk image only, and neither an ISO nor PXE.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Schematic}, Remedy: "choose one of the ways that the line names",
			Sources: []string{"D1"}, Judge: booted,
		},
		{
			ID: "PLT-004", Title: "the platform is not newer than the machine's Talos",
			Question: "Did this version of Talos know the platform already? An image that does not exist cannot be downloaded.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "upgrade Talos",
			Sources: []string{"T"}, Judge: oldEnough,
		},
		{
			ID: "PLT-013", Title: "machines are large enough",
			Question: "Do Talos and Kubernetes fit? Below 2 processors, 2 GiB and 10 GiB a control plane does not come up; below twice that and 100 GiB production has no room to breathe.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Live}, Reads: []string{facts.LiveNodes}, Remedy: "give the machine more",
			Sources: []string{"T"}, Judge: large,
		},
		{
			ID: "PLT-014", Title: "machines of KubeVirt boot the image of OpenStack or NoCloud",
			Question: "Does the virtual machine find its configuration? KubeVirt hands it over as a config drive, which those two platforms read. There is no platform named kubevirt.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec}, Remedy: "use the image of openstack or nocloud, or leave it to Minos",
			Sources: []string{"T"}, Judge: drive,
		},
	}
}

// metal are the rules about machines of metal.
func metal() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "PLT-005", Title: "a machine of metal is installed in a known way, on a disk that is chosen by what it is",
			Question: "Would the same disk be chosen after the next start? Names such as /dev/sda change when a disk is added, and the installer wipes what it is given.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config, facts.Spec}, Remedy: "choose the disk by serial, wwid or a CEL expression, and note how machines are started: check.minos.dev/boot-method",
			Sources: []string{"D1", "T"}, Judge: installed,
		},
		{
			ID: "PLT-006", Title: "a machine of metal with amd64 has the microcode of its processor",
			Question: "Are the faults of the processor mended? Their mending is loaded at boot, and comes with an extension.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config, facts.Schematic}, Remedy: "add amd-ucode or intel-ucode to the role",
			Sources: []string{"A3"}, Judge: microcode,
		},
		{
			ID: "PLT-015", Title: "nothing is needed that Talos cannot have",
			Question: "Does somebody rely on packages of the host, or on a driver that no extension brings? Talos has no place for them.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "use another system for that machine, or find an extension",
			Sources: []string{"P4"}, Judge: possible,
		},
	}
}

// hypervisors are the rules about virtual machines.
func hypervisors() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "PLT-007", Title: "the guest agent is the hypervisor's",
			Question: "Does the boot end? An agent waits for the device of its own hypervisor: on another, and on metal, the machine reboots after 70 minutes, again and again.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "swap the extension for that of the hypervisor, or remove it",
			Sources: []string{"D1", "T", "siderolabs/talos#14373"}, Judge: agent,
		},
		{
			ID: "PLT-008", Title: "where the agent of QEMU is, its channel is too",
			Question: "Is the device there that the agent waits for? Proxmox adds it only with agent=1; without it the boot never ends.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "enable the channel (in Proxmox: agent=1) and note it: check.minos.dev/guest-channel: enabled",
			Sources: []string{"T"}, Judge: channel,
		},
	}
}

// clouds are the rules about clouds.
func clouds() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "PLT-009", Title: "for machines of a cloud it is said whether a cloud controller is wanted",
			Question: "Who gives Nodes their addresses and zones, and removes those of machines that are gone? A cloud controller does, and it must be both declared and installed, or neither.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "set externalCloudProvider, or note that none is wanted: check.minos.dev/cloud-controller: none",
			Sources: []string{"D1"}, Judge: controller,
		},
		{
			ID: "PLT-010", Title: "a virtual IP in the Hetzner cloud is made for it",
			Question: "Does the address move when a control plane goes? The networks of that cloud are routed, so that an announcement in the network reaches nobody: its interface must be told.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "use HCloudVIPConfig, or vip.hcloud in old configurations",
			Sources: []string{"D1", "T"}, Judge: hetzner,
		},
	}
}

// others are the rules about small clusters and foreign machines.
func others() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "PLT-011", Title: "a cluster that may be lost is small by declaration, and has a backup",
			Question: "If the only control plane dies, is there a way back? Rules about availability are silent for a small cluster, and for that they want a backup.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec}, Remedy: "record in spec.decisions how etcd is backed up",
			Sources: []string{"D1", "P4"}, Judge: excused,
		},
		{
			ID: "PLT-012", Title: "machines with another system are known as such",
			Question: "Who looks after the machines that are not Talos? Nothing here configures or upgrades them.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveNodes}, Remedy: "put the label check.minos.dev/foreign-node with its owner on the Node",
			Sources: []string{"D1"}, Judge: foreign,
		},
	}
}
