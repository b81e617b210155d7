// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"maps"
	"slices"
	"strings"
)

// A Note is something that people declare for the checks and that our kinds have no field for: as an annotation of a TalosCluster,
// a NodePool, a NodeRole or a location, check.minos.dev/<note>, or under notes in the folder's file of settings. Its value is a
// sentence for people, or one of a few words where the note says so.
type Note string

// notePrefix stands before a note in the name of an annotation.
const notePrefix = "check.minos.dev/"

// The notes.
const (
	// NoteBackup says how etcd is backed up.
	NoteBackup Note = "backup"
	// NoteBackupTarget says where backups are kept.
	NoteBackupTarget Note = "backup-target"
	// NoteBackupEncryption says how backups are encrypted.
	NoteBackupEncryption Note = "backup-encryption"
	// NoteBackupRetention says for how long backups are kept.
	NoteBackupRetention Note = "backup-retention"
	// NoteRestoreTested says when a restore was last tried.
	NoteRestoreTested Note = "restore-tested"
	// NoteSecretsBackup says where the secrets bundle is kept.
	NoteSecretsBackup Note = "secrets-backup"
	// NoteMesh says which range of addresses a mesh or a VPN uses.
	NoteMesh Note = "mesh-range"
	// NoteDRBDWithZFS says that somebody knows what DRBD and ZFS do together.
	NoteDRBDWithZFS Note = "drbd-with-zfs"
	// NoteNFSRedundancy says how an NFS server survives.
	NoteNFSRedundancy Note = "nfs-redundancy"
	// NoteSurviveTwo says why two losses at once must be survived.
	NoteSurviveTwo Note = "survive-two-failures"
	// NoteFsync says how long a write of etcd takes.
	NoteFsync Note = "etcd-fsync-p99"
	// NotePlatform says where machines run whose configuration does not say it.
	NotePlatform Note = "platform"
	// NoteBootMethod says how machines are started.
	NoteBootMethod Note = "boot-method"
	// NoteHypervisor says what machines run on.
	NoteHypervisor Note = "hypervisor"
	// NoteGuestChannel says whether the hypervisor has the channel of its agent.
	NoteGuestChannel Note = "guest-channel"
	// NoteProcessor says whose processors machines have.
	NoteProcessor Note = "processor"
	// NoteHostNeeds says what is needed that Talos cannot have.
	NoteHostNeeds Note = "host-needs"
	// NoteCloudController says whether a cloud controller is wanted.
	NoteCloudController Note = "cloud-controller"
	// NoteGraphics says which graphics processor machines have.
	NoteGraphics Note = "graphics"
	// NoteGateways says whether several gateways stand in for each other.
	NoteGateways Note = "gateways"
	// NoteGatewayAccepts says why a gateway takes routes or names from the VPN.
	NoteGatewayAccepts Note = "gateway-accepts"
	// NoteGatewayKey says what kind of key a gateway has.
	NoteGatewayKey Note = "gateway-key"
	// NoteSingleGateway says why one gateway is enough.
	NoteSingleGateway Note = "single-gateway"
	// NoteMonitoring says who watches the cluster's health.
	NoteMonitoring Note = "monitoring"
	// NoteWorkloadIsolation says why workloads are not isolated from the system.
	NoteWorkloadIsolation Note = "workload-isolation"
	// NoteHardware says what machines have that needs an extension.
	NoteHardware Note = "hardware"
	// NoteBootAsset says which schematic machines are started with, where it is not that of their installer.
	NoteBootAsset Note = "boot-asset"
	// NoteThunderbolt says what Thunderbolt devices are for.
	NoteThunderbolt Note = "thunderbolt"
	// NoteConfiguration says how machine configurations are managed.
	NoteConfiguration Note = "configuration"
	// NoteWayOut says how machines leave a service that manages them.
	NoteWayOut Note = "way-out"
	// NoteBootloader says which boot loader machines have.
	NoteBootloader Note = "bootloader"
	// NoteUpgradeFrom says which Talos runs now, where the declared one is a newer one.
	NoteUpgradeFrom Note = "upgrade-from"
	// NoteKubernetesFrom says which Kubernetes runs now, where the declared one is a newer one.
	NoteKubernetesFrom Note = "kubernetes-from"
	// NoteCanary says which pools get a new version first.
	NoteCanary Note = "canary"
	// NoteCanarySoak says how long the first machines run a new version before the others get it.
	NoteCanarySoak Note = "canary-soak"
	// NoteStaging says where a new version is tried before production.
	NoteStaging Note = "staging"
	// NoteBlueGreen says which cluster takes over from this one.
	NoteBlueGreen Note = "blue-green"
	// NoteCutOver says how traffic moves from one cluster to the other.
	NoteCutOver Note = "cut-over"
	// NoteUpgradeSnapshot says how etcd is copied before an upgrade.
	NoteUpgradeSnapshot Note = "upgrade-snapshot"
	// NoteUpgradeRollback says how an upgrade is taken back.
	NoteUpgradeRollback Note = "upgrade-rollback"
)

// notes are all notes with what they mean. A note that is not in this list is a slip of the pen, and is said.
var notes = map[Note]string{
	NoteBackup:            "how etcd is backed up, and how often",
	NoteBackupTarget:      "where backups are kept, which is not in the cluster",
	NoteBackupEncryption:  "how backups are encrypted",
	NoteBackupRetention:   "for how long backups are kept",
	NoteRestoreTested:     "when a restore was last tried, as a date such as 2026-11-15",
	NoteSecretsBackup:     "where the secrets bundle of the cluster is kept, if not in this repository",
	NoteMesh:              "the range of addresses that a mesh or a VPN uses, such as 100.64.0.0/10",
	NoteDRBDWithZFS:       "how pools of ZFS are kept off DRBD devices",
	NoteNFSRedundancy:     "how the NFS server survives the loss of its machine",
	NoteSurviveTwo:        "why two control planes may be lost at once",
	NoteFsync:             "how long the disk takes for a write of etcd in 99 of 100 cases, such as 4 ms",
	NotePlatform:          "where machines run, by Talos's name for it, such as metal",
	NoteBootMethod:        "how machines are started: iso, pxe or image",
	NoteHypervisor:        "what machines run on: qemu, vmware, xen, hyperv or none",
	NoteGuestChannel:      "enabled, if the hypervisor has the channel of its guest agent",
	NoteProcessor:         "whose processors machines have: amd or intel",
	NoteHostNeeds:         "packages of the host or drivers that are needed and that no extension brings",
	NoteCloudController:   "which cloud controller is wanted, or none",
	NoteGraphics:          "which graphics processor machines have, with its generation, such as RTX 2070 (Turing)",
	NoteGateways:          "ha, if several gateways stand in for each other",
	NoteGatewayAccepts:    "why a gateway takes routes or names from the VPN",
	NoteGatewayKey:        "what kind of key a gateway has: tagged and not expiring, or of an OAuth client",
	NoteSingleGateway:     "why one gateway is enough",
	NoteMonitoring:        "who or what watches the health of the cluster",
	NoteWorkloadIsolation: "why workloads are not isolated from the system, from Talos 1.14",
	NoteHardware:          "what machines have that needs an extension, as words such as nvidia, intel-e800, iscsi, nfs or coral",
	NoteBootAsset:         "the ID of the schematic that machines are started with, where it is not that of their installer",
	NoteConfiguration:     "how machine configurations are made, kept and applied, such as talhelper, Terraform or GitOps; a cluster of ours has a decision for it",
	NoteWayOut:            "how machines leave the service that manages them, with their configurations",
	NoteBootloader:        "the boot loader of machines whose configuration does not say it: grub or sd-boot",
	NoteThunderbolt:       "what Thunderbolt devices are plugged in for",
	NoteUpgradeFrom:       "the version of Talos that runs now, and after it those on the way to the declared one, such as v1.12.11, v1.13.9",
	NoteKubernetesFrom:    "the version of Kubernetes that runs now",
	NoteCanary:            "the pools that get a new version first, as names with commas between them",
	NoteCanarySoak:        "how long the first machines run a new version before the others get it, such as 24h",
	NoteStaging:           "where a new version is tried before production, if not on a cluster of this folder",
	NoteBlueGreen:         "the name of the cluster that takes over from this one, or from which this one takes over",
	NoteCutOver:           "how traffic moves from the old cluster to the new one, and back",
	NoteUpgradeSnapshot:   "how etcd is copied right before an upgrade",
	NoteUpgradeRollback:   "how an upgrade is taken back where Talos itself would not do it",
}

// Notes returns all notes that are known, sorted.
func Notes() []Note { return slices.Sorted(maps.Keys(notes)) }

// Meaning is what a note says.
func (n Note) Meaning() string { return notes[n] }

// notesIn are the notes among annotations.
func notesIn(annotations map[string]string) map[Note]string {
	found := map[Note]string{}
	for name, value := range annotations {
		if note, ok := strings.CutPrefix(name, notePrefix); ok && value != "" {
			found[Note(note)] = value
		}
	}
	return found
}
