// SPDX-License-Identifier: Apache-2.0

// Package storage has the rules about where data is kept: which storage a cluster uses, what that needs on machines, and disks.
package storage

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
	return rule.Set(examples, slices.Concat(choice(), longhorn(), replicated(), modules(), others(), disks())...)
}

// choice are the rules about which storage there is.
func choice() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-001", Title: "what keeps data has a storage that somebody chose",
			Question: "Where is the data of the workloads? A claim without a storage that serves it stays Pending, and one on a storage that nobody chose is lost with its machine.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Manifests}, Remedy: "record the choice in spec.decisions about Storage",
			Sources: []string{"D5", "C5"}, Judge: decided,
		},
		{
			ID: "STO-010", Title: "stateful sets on local disks replicate by themselves", Production: true,
			Question: "Does data survive the loss of a machine? Local storage is on one machine only, so that the application has to keep copies.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Manifests, facts.Spec}, Remedy: "run more than one replica of an application that replicates, or use a replicated storage",
			Sources: []string{"D5"}, Judge: copies,
		},
		{
			ID: "STO-012", Title: "a cloud's storage driver is used on that cloud only",
			Question: "Does the driver find the disks that it manages? The driver of a cloud asks that cloud's interface, which a machine elsewhere does not have.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "choose a storage that works where the machines are",
			Sources: []string{"D5"}, Judge: atHome,
		},
	}
}

// longhorn are the rules about Longhorn.
func longhorn() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-002", Title: "Longhorn finds its tools on machines, and enough machines",
			Question: "Can Longhorn attach a volume? It uses iSCSI of the host, which on Talos comes with the extensions iscsi-tools and util-linux-tools, and keeps three copies on three machines.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Spec, facts.Config}, Remedy: "add iscsi-tools and util-linux-tools to the role of the machines that hold data, and have three of them",
			Sources: []string{"D5", "A3"}, Judge: longhornTools,
		},
		{
			ID: "STO-003", Title: "Longhorn's second engine finds a raw volume, huge pages and modules",
			Question: "Would the second data engine start? It works on raw block devices with user-space drivers, and needs 1,024 huge pages and three kernel modules.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "add a RawVolumeConfig, vm.nr_hugepages: \"1024\", and the modules nvme_tcp, vfio_pci and uio_pci_generic",
			Sources: []string{"D5", "T"}, Judge: longhornEngine,
		},
		{
			ID: "STO-004", Title: "data lies on a volume of its own, and not on EPHEMERAL",
			Question: "Does data survive an upgrade that wipes, and a full disk? EPHEMERAL holds images and logs, is wiped by a reset, and when data fills it the kubelet evicts everything.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "add a UserVolumeConfig and use /var/mnt/<name> as the path of the data",
			Sources: []string{"T"}, Judge: dataPath,
		},
	}
}

// replicated are the rules about other replicated storages.
func replicated() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-005", Title: "Rook-Ceph has three machines with an empty disk",
			Question: "Can Ceph keep three copies? It takes whole disks that nothing else uses, on three machines at least.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Live}, Reads: []string{facts.LiveDisks, facts.LiveSystemDisks, facts.LiveDiscoveredVolumes}, Remedy: "add machines or disks, or choose another storage",
			Sources: []string{"D5"}, Judge: cephDisks,
		},
		{
			ID: "STO-006", Title: "Mayastor has huge pages, its label and NVMe over TCP",
			Question: "Would the engine of Mayastor run? It wants 1,024 huge pages, runs on machines with its label only, and attaches volumes by NVMe over TCP.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "set vm.nr_hugepages: \"1024\", the label openebs.io/engine: mayastor and the module nvme_tcp",
			Sources: []string{"D5"}, Judge: mayastor,
		},
		{
			ID: "STO-007", Title: "LINSTOR has DRBD, with its helper turned off",
			Question: "Does DRBD work on Talos? Its module comes with the extension drbd and calls a program on the host that Talos does not have, unless it is told not to.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "add the extension drbd, and the module drbd with the parameter usermode_helper=disabled",
			Sources: []string{"D5", "T"}, Judge: linstor,
		},
	}
}

// modules are the rules about file systems of the kernel.
func modules() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-008", Title: "the extension zfs and the module zfs come together",
			Question: "Does the boot end? The service of the extension waits for /dev/zfs, which the module makes: without the module the machine reboots after 70 minutes, again and again.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "load the module zfs in the machine configuration, or remove the extension",
			Sources: []string{"T", "ADR"}, Judge: zfs,
		},
		{
			ID: "STO-009", Title: "where DRBD and ZFS are on one machine, somebody knows of the hang",
			Question: "Does the machine boot when pools of ZFS lie on DRBD devices? The import of such a pool hangs, because DRBD is not up yet.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "do not put pools of ZFS on DRBD devices, and note that: check.minos.dev/drbd-with-zfs",
			Sources: []string{"T", "siderolabs/extensions#1167"}, Judge: both,
		},
	}
}

// others are the rules about storage that is elsewhere.
func others() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-011", Title: "an NFS server is known to survive, and its locks work",
			Question: "What happens when the NFS server is away, and are files locked? Everything that mounts it stands still; and locks of NFS version 3 need a service on the machine.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Manifests}, Remedy: "note how the server survives (check.minos.dev/nfs-redundancy); use version 4, or add the extension nfs-utils from Talos 1.12",
			Sources: []string{"D5"}, Judge: nfs,
		},
		{
			ID: "STO-013", Title: "with isolated workloads there are no in-tree iSCSI volumes",
			Question: "Can volumes be attached? From Talos 1.14, workloads that are isolated do not see the host's iSCSI, which in-tree volumes use.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "use a CSI driver for iSCSI",
			Sources: []string{"T"}, Judge: iscsi,
		},
	}
}

// disks are the rules about volumes of machines.
func disks() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "STO-014", Title: "disks are described in the way that the version knows",
			Question: "Does this version of Talos know the document, and is the old field still the way? Volume documents came with 1.10 and 1.11; an unknown document makes the whole configuration invalid.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "use UserVolumeConfig from 1.10 on; RawVolumeConfig, ExistingVolumeConfig and SwapVolumeConfig from 1.11 on",
			Sources: []string{"T"}, Judge: known,
		},
		{
			ID: "STO-015", Title: "data is on a disk of its own, and not on the system's",
			Question: "Is the system slowed down or filled by data, and is data lost when the system is installed anew? On the system's disk both happen.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "select a disk with !system_disk in diskSelector.match",
			Sources: []string{"T"}, Judge: apart,
		},
	}
}
