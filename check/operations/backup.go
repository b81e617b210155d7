// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"strings"
	"time"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// fresh is for how long a restore that was tried counts. It is our own judgement: half a year is as long as people remember how
// they did it.
const fresh = 180 * 24 * time.Hour

// scheduled wants a backup of every cluster that has an etcd of its own.
func scheduled(all *facts.Facts, sheet *rule.Sheet) {
	job := backupJob(all)
	for _, cluster := range all.Clusters {
		switch {
		case !cluster.OnTalos():
		case cluster.HasBackup() || job:
			sheet.Pass(cluster.At("spec.decisions"))
		default:
			sheet.Fail(cluster.At("spec.decisions"), "nothing backs up the etcd of cluster %s: no decision, no CronJob and no scheduled workflow says so", cluster.Title())
		}
	}
}

// backupJob says whether a manifest or a scheduled workflow makes snapshots of etcd.
func backupJob(all *facts.Facts) bool {
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "CronJob" && mentions(manifest.Body, "talos-backup", "etcd snapshot") {
			return true
		}
	}
	for _, values := range all.Values {
		if strings.Contains(values.Chart, "talos-backup") {
			return true
		}
	}
	for _, workflow := range all.Workflows {
		if workflow.Scheduled && workflow.Does("etcd snapshot") {
			return true
		}
	}
	return false
}

// mentions says whether any text below a value holds one of some texts.
func mentions(value any, texts ...string) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			if mentions(below, texts...) {
				return true
			}
		}
	case []any:
		for _, below := range value {
			if mentions(below, texts...) {
				return true
			}
		}
		return joined(value, texts...)
	case string:
		for _, text := range texts {
			if strings.Contains(value, text) {
				return true
			}
		}
	}
	return false
}

// joined says whether the words of a command, put together, hold one of some texts.
func joined(words []any, texts ...string) bool {
	var line []string
	for _, word := range words {
		line = append(line, facts.Text(word))
	}
	return mentions(strings.Join(line, " "), texts...)
}

// worthwhile wants a backup to be one that helps.
func worthwhile(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !cluster.OnTalos() || !cluster.HasBackup() {
			continue // that there is none is said by OPS-001
		}
		var missing []string
		for note, what := range map[facts.Note]string{
			facts.NoteBackupTarget: "where it is kept", facts.NoteBackupEncryption: "how it is encrypted", facts.NoteBackupRetention: "for how long it is kept",
		} {
			if cluster.Notes[note] == "" {
				missing = append(missing, what)
			}
		}
		if why := restore(cluster.Notes[facts.NoteRestoreTested], all.Now); why != "" {
			missing = append(missing, why)
		}
		if len(missing) == 0 {
			sheet.Pass(cluster.At("metadata.annotations"))
			continue
		}
		sheet.Fail(cluster.At("metadata.annotations"), "of the backup of cluster %s nobody noted %s", cluster.Title(), list(missing))
	}
}

// restore says what is wrong with when a restore was tried; nothing if that is fine.
func restore(noted string, now time.Time) string {
	at, err := time.Parse(time.DateOnly, noted)
	switch {
	case noted == "":
		return "when a restore was tried"
	case err != nil:
		return "when a restore was tried, as a date such as 2026-11-15"
	case now.Sub(at) > fresh:
		return "a restore since " + noted
	}
	return ""
}

// kept wants the bundle of every cluster that has one to be kept.
func kept(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !cluster.OnTalos() {
			continue // its secrets are kept in the management cluster
		}
		bundle := bundleOf(all, cluster)
		switch {
		case cluster.Notes[facts.NoteSecretsBackup] != "":
			sheet.Pass(cluster.At("metadata.annotations"))
		case bundle == nil:
			sheet.Fail(cluster.At("metadata.name"), "there is no secrets bundle of cluster %s in the repository, and no note says where it is kept", cluster.Title())
		case bundle.Map("sops") == nil:
			sheet.Fail(all.InDocument(bundle, ""), "the secrets bundle of cluster %s is there and not encrypted", cluster.Title())
		case all.Git && !bundle.File.Tracked:
			sheet.Fail(all.InDocument(bundle, ""), "the secrets bundle of cluster %s is encrypted and not committed", cluster.Title())
		default:
			sheet.Pass(all.InDocument(bundle, ""))
		}
	}
}

// bundleOf is the bundle of a cluster: the one with its name, or the only one of the folder.
func bundleOf(all *facts.Facts, cluster *facts.Cluster) *facts.Document {
	for _, bundle := range all.Bundles {
		if strings.HasPrefix(bundle.File.Base(), cluster.Name+".") {
			return bundle
		}
	}
	if len(all.Bundles) == 1 && len(all.Clusters) == 1 {
		return all.Bundles[0]
	}
	return nil
}
