// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/extension"
)

// parts is what the cluster is made of: network, storage and extensions.
var parts = []Question{
	{
		Name: "cni", Options: cniNames, hosted: true,
		Ask:    "Which pod network?",
		Help:   "flannel works at once; cilium and calico bring policies and are installed by you; none leaves it open",
		Usage:  "pod `network`: flannel, cilium, calico or none",
		preset: func(a *Answers) string { return a.preset().cni },
		set:    func(a *Answers, text string) error { a.CNI = text; return nil },
	},
	{
		Name: "storage", Options: storageNames(), hosted: true,
		Ask:    "What keeps the data of workloads?",
		Help:   "local-path: on one machine, without copies; longhorn, rook-ceph, mayastor, linstor: copies on several; nfs: a server elsewhere; none: no data here",
		Usage:  "`storage` of workloads: " + strings.Join(storageNames(), ", "),
		preset: func(a *Answers) string { return a.preset().storage },
		set:    func(a *Answers, text string) error { a.Storage = text; return nil },
	},
	{
		Name: "extensions", Many: true, hosted: true,
		Ask:    "Which system extensions does the hardware need?",
		Help:   "'minos image extensions' lists them; 'none' if nothing is needed",
		Usage:  "system extension `names`, or none (default: microcode)",
		preset: presetExtensions,
		set:    setExtensions,
	},
}

// presetExtensions is microcode, where there is a processor that takes it.
func presetExtensions(a *Answers) string {
	if a.hosted() || a.Architecture != api.AMD64 || a.Platform != Metal && a.Platform != AtEdge {
		return None
	}
	return strings.Join(microcode, ",")
}

// presetBackup is snapshots, which of a hosted cluster are those of the store that it shares with others.
func presetBackup(a *Answers) string {
	if a.hosted() {
		return "snapshots of Kamaji's data store, by the management cluster"
	}
	return "etcd-snapshots"
}

// setExtensions takes a list of extensions, sorted and without the prefix that schematics have.
func setExtensions(a *Answers, text string) error {
	a.Extensions = nil
	for _, name := range fields(text) {
		if name = strings.TrimPrefix(name, extension.Prefix); name != None {
			a.Extensions = append(a.Extensions, name)
		}
	}
	slices.Sort(a.Extensions)
	a.Extensions = slices.Compact(a.Extensions)
	return nil
}

// setRecipients takes who can decrypt the secrets.
func setRecipients(a *Answers, text string) error {
	recipients := fields(text)
	for _, recipient := range recipients {
		if err := sops.CheckRecipient(recipient); err != nil {
			return wrong("age", "%w", err)
		}
	}
	a.Recipients = recipients
	return nil
}

// care is how the cluster is looked after: secrets, upgrades, backup, the way in, and who decided.
var care = []Question{
	{
		Name: "secrets", Options: []string{"age"}, Quiet: true,
		Usage:  "`way` in which secrets are encrypted: age, the only one",
		preset: func(*Answers) string { return "age" },
		set:    func(*Answers, string) error { return nil },
	},
	{
		Name: "age", Many: true,
		Ask:    "Who can decrypt the cluster's secrets?",
		Help:   "age recipients (age1...), with blanks between; Enter alone takes your own key, and makes one if you have none",
		Usage:  "age `recipient` of the secrets, repeated for each",
		preset: func(*Answers) string { return "" },
		set:    setRecipients,
	},
	{
		Name: "upgrades", Options: []string{"rolling", "canary", "blue-green"}, hosted: true,
		Ask:    "How do new versions reach the machines?",
		Help:   "rolling: one machine after another; canary: one first, the rest after a while; blue-green: a second cluster, then a switch",
		Usage:  "`way` of upgrades: rolling, canary or blue-green (default: rolling)",
		preset: func(*Answers) string { return "rolling" },
		set:    func(a *Answers, text string) error { a.Upgrades = text; return nil },
	},
	{
		Name: "backup", hosted: true,
		Ask:    "How is etcd saved?",
		Help:   "in your words, such as etcd-snapshots; 'none' loses the cluster with its last control plane",
		Usage:  "how etcd is saved, in `words` (default: etcd-snapshots)",
		preset: presetBackup,
		set:    func(a *Answers, text string) error { a.Backup = text; return nil },
	},
	{
		Name: "backup-reason", hosted: true,
		when:   func(a *Answers) bool { return a.Backup == None },
		Ask:    "Why is there no backup?",
		Help:   "those who come after will want to know",
		Usage:  "why there is no backup, in `words`",
		preset: func(*Answers) string { return "" },
		set:    func(a *Answers, text string) error { a.BackupReason = text; return nil },
	},
	{
		Name: "endpoint", hosted: true, Place: true,
		Many:   true, // as it is for other commands, where one variable serves them all; more than one is refused
		Ask:    "Where is the API server reached?",
		Help:   "one control plane: its own address; several: an address that they share, or a load balancer; a hosted one brings its own",
		Usage:  "`host` of the API server: shared address, load balancer or the one control plane",
		preset: presetEndpoint,
		set:    setEndpoint,
	},
	{
		Name: "vip-link", Place: true,
		when:   func(a *Answers) bool { return a.ControlPlanes > 1 && a.Platform != Cloud },
		Ask:    "On which network link is that address shared?",
		Help:   "'talosctl get links --insecure -n ADDRESS' lists those of a machine; 'none' if a load balancer has the address",
		Usage:  "network `link` on which control planes share the endpoint",
		preset: presetLink,
		set:    setLink,
	},
	{
		Name: "owner", hosted: true,
		Ask:    "Who decides this, and is asked about it later?",
		Help:   "a person or a team; it stands beside every decision",
		Usage:  "`name` of who decides (default: $USER)",
		preset: func(a *Answers) string { return a.facts.Owner },
		set:    setOwner,
	},
	{
		Name: "date", Quiet: true, hosted: true,
		Usage:  "`date` of the decisions (default: today)",
		preset: func(a *Answers) string { return a.facts.Date },
		set:    setDate,
	},
}
