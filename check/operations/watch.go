// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// list is things as a sentence has them.
func list(things []string) string {
	slices.Sort(things)
	return strings.Join(things, ", ")
}

// scheduledJob says whether a workflow that runs by a clock does one of some things.
func scheduledJob(all *facts.Facts, things ...string) bool {
	return slices.ContainsFunc(all.Workflows, func(workflow *facts.Workflow) bool {
		return workflow.Scheduled && slices.ContainsFunc(things, workflow.Does)
	})
}

// watched wants somebody to ask whether a cluster is well.
func watched(all *facts.Facts, sheet *rule.Sheet) {
	job := scheduledJob(all, "talosctl health", "minos doctor")
	for _, cluster := range all.Clusters {
		if job || cluster.Notes[facts.NoteMonitoring] != "" {
			sheet.Pass(cluster.At("metadata.name"))
			continue
		}
		sheet.Fail(cluster.At("metadata.name"), "nothing asks whether cluster %s is healthy: no scheduled workflow runs talosctl health, and no note says who watches it", cluster.Title())
	}
}

// workflow is a rule about what some scheduled job of the repository does.
func workflow(all *facts.Facts, sheet *rule.Sheet, text string, things ...string) {
	if len(all.Clusters) == 0 {
		return
	}
	if scheduledJob(all, things...) {
		sheet.Pass(all.Whole())
		return
	}
	sheet.Fail(all.Whole(), "%s", text)
}

// versionsWatched wants a job that compares versions.
func versionsWatched(all *facts.Facts, sheet *rule.Sheet) {
	workflow(all, sheet, "no scheduled workflow compares the Talos versions of machines", "talosctl version", "minos check --live")
}

// driftWatched wants a job that compares what runs with what is declared.
func driftWatched(all *facts.Facts, sheet *rule.Sheet) {
	workflow(all, sheet, "no scheduled workflow compares what runs with what is declared", "minos diff", "apply-config --dry-run", "talhelper gencommand apply --extra-flags=--dry-run")
}

// etcdWatched wants alerts on etcd, where there is one to watch.
func etcdWatched(all *facts.Facts, sheet *rule.Sheet) {
	if !slices.ContainsFunc(all.Clusters, (*facts.Cluster).OnTalos) {
		return
	}
	wanted := map[string]string{"etcd_mvcc_db_total_size": "its size", "etcd_server_leader_changes": "changes of its leader"}
	for _, manifest := range all.Manifests {
		if manifest.Kind() != "PrometheusRule" && manifest.Kind() != "VMRule" {
			continue
		}
		for metric := range wanted {
			if mentions(manifest.Body, metric) {
				delete(wanted, metric)
			}
		}
	}
	if len(wanted) == 0 {
		sheet.Pass(all.Whole())
		return
	}
	var missing []string
	for _, what := range wanted {
		missing = append(missing, what)
	}
	sheet.Fail(all.Whole(), "no alert of the manifests watches etcd: %s", list(missing))
}

// diagnosed says what Talos says of itself.
func diagnosed(all *facts.Facts, sheet *rule.Sheet) {
	diagnostics, asked := all.Live.Resources[facts.LiveDiagnostics]
	for _, one := range diagnostics {
		sheet.Fail(one.At("spec.message"), "%s: %s: %s", one.Node, one.Name(), one.String("spec.message"))
	}
	services, known := all.Live.Resources[facts.LiveServices]
	if !asked && !known {
		sheet.Unknown(all.Whole(), "neither diagnostics nor services were saved: 'talosctl get diagnostics,services -o json'")
		return
	}
	for _, service := range services {
		if service.String("spec.healthy") == "false" && service.String("spec.unknown") != "true" {
			sheet.Fail(service.At("spec.healthy"), "%s: service %s is not healthy", service.Node, service.Name())
			continue
		}
		sheet.Pass(service.At(""))
	}
}

// logged wants logs to leave the machine.
func logged(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		switch {
		case machine.Config == nil: // which is said by CFG-004
		case len(machine.Config.Runtime().KmsgLogURLs()) > 0 || logs(machine):
			sheet.Pass(machine.At("machine.logging"))
		default:
			sheet.Fail(machine.At("machine.logging"), "logs of %s stay on the machine", machine.Name)
		}
	}
}

// logs says whether the logs of services are sent somewhere.
func logs(machine *facts.Machine) bool {
	own := machine.Config.Machine()
	return own != nil && own.Logging() != nil && len(own.Logging().Destinations()) > 0
}

// guarded wants machines of metal to have a watchdog.
func guarded(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		switch {
		case machine.Config == nil || machine.Platform != "metal":
		case machine.Config.Runtime().WatchdogTimer() != nil:
			sheet.Pass(machine.At("WatchdogTimerConfig"))
		default:
			sheet.Fail(machine.At(""), "%s is a machine of metal and has no watchdog", machine.Name)
		}
	}
}
