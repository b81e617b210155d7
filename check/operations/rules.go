// SPDX-License-Identifier: Apache-2.0

// Package operations has the rules about what keeps a cluster alive after it was made: backups, health, drift and logs.
package operations

import (
	"embed"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule { return rule.Set(examples, append(backups(), watching()...)...) }

// backups are the rules about what is left when everything else is gone.
func backups() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "OPS-001", Title: "etcd is backed up on a schedule",
			Question: "Is there a copy of etcd when its machines are lost? Everything that the cluster knows is in it: without a copy, a cluster that lost its quorum is made anew and its workloads with it.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Manifests, facts.Workflows},
			Remedy:  "run talos-backup in the cluster or 'talosctl etcd snapshot' in a scheduled job, or record in spec.decisions how it is done",
			Sources: []string{"C9"}, Judge: scheduled,
		},
		{
			ID: "OPS-002", Title: "backups are elsewhere, encrypted, kept for a while, and a restore was tried",
			Question: "Would the backup help? One that lies in the cluster is lost with it, one that is readable gives every secret away, and one that nobody restored in half a year is a hope.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec},
			Remedy:  "note what is missing: check.minos.dev/backup-target, backup-encryption, backup-retention, restore-tested",
			Sources: []string{"C9"}, Judge: worthwhile,
		},
		{
			ID: "OPS-003", Title: "the secrets bundle is kept, encrypted",
			Question: "Can machines be added when all machines that have the secrets are lost? The bundle of authorities and tokens is the identity of the cluster: without it nobody can join or administer it again.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Tree},
			Remedy:  "commit the bundle encrypted ('minos secrets encrypt'), or note where it is kept: check.minos.dev/secrets-backup",
			Sources: []string{"C9"}, Judge: kept,
		},
	}
}

// watching are the rules about noticing.
func watching() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "OPS-004", Title: "somebody is told when the cluster is not healthy",
			Question: "Does anything ask Talos and etcd whether they are well, and tell somebody? A member of etcd that is gone harms nobody until the next one goes.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Workflows, facts.Spec},
			Remedy:  "run 'talosctl health' in a scheduled job that fails loudly, or note who watches: check.minos.dev/monitoring",
			Sources: []string{"F4"}, Judge: watched,
		},
		{
			ID: "OPS-005", Title: "a running cluster reports no diagnostics and no failed service",
			Question: "Does Talos itself say that something is wrong? Its diagnostics name what nobody looks for: addresses that overlap, certificates that are not approved.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveDiagnostics, facts.LiveServices}, Remedy: "follow the diagnostic: each has a page in the documentation of Talos",
			Sources: []string{"F4"}, Judge: diagnosed,
		},
		{
			ID: "OPS-006", Title: "etcd's alarms, size and changes of leader are watched",
			Question: "Is somebody told before etcd is full? At its quota it raises an alarm and refuses every write, and a leader that changes often means a disk that is too slow.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Manifests}, Remedy: "add alerts on etcd_mvcc_db_total_size_in_bytes and etcd_server_leader_changes_seen_total",
			Sources: []string{"F4"}, Judge: etcdWatched,
		},
		{
			ID: "OPS-007", Title: "somebody is told when versions differ",
			Question: "Is a roll-out that stopped half-way noticed? Machines of two versions work together for a while, and the one that was forgotten breaks the next upgrade.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Workflows}, Remedy: "compare 'talosctl version' of all machines in a scheduled job",
			Sources: []string{"F3"}, Judge: versionsWatched,
		},
		{
			ID: "OPS-008", Title: "what runs is compared with what is declared, on a schedule",
			Question: "Is a change noticed that somebody made by hand? Without a comparison the repository is a story about the cluster and not its source.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Workflows}, Remedy: "run 'minos diff' or 'talosctl apply-config --dry-run' in a scheduled job",
			Sources: []string{"F1"}, Judge: driftWatched,
		},
		{
			ID: "OPS-009", Title: "logs leave the machine",
			Question: "Are there logs of a machine that is gone? A machine has no shell and keeps its logs in memory: what it said before it died is read from elsewhere or not at all.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "set machine.logging.destinations, or a KmsgLogConfig document",
			Sources: []string{"T"}, Judge: logged,
		},
		{
			ID: "OPS-010", Title: "machines of metal that nobody stands beside have a watchdog",
			Question: "Does a machine that hangs come back by itself? Without the hardware's watchdog somebody has to go there.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "add a WatchdogTimerConfig document with the device, usually /dev/watchdog0",
			Sources: []string{"T"}, Judge: guarded,
		},
	}
}
