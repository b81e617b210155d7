// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// same wants the machines of a cluster to run one version.
func same(all *facts.Facts, sheet *rule.Sheet) {
	for _, m := range movesOf(all) {
		if m.differs(sheet) {
			continue
		}
		var found []semver.Version
		for _, one := range m.running {
			if version, err := parse(one.Talos); err == nil {
				found = append(found, version)
			}
		}
		found = distinct(found)
		rolling := slices.ContainsFunc(found, m.target.EQ)
		switch {
		case len(found) == 0:
			sheet.Unknown(m.place(), "which Talos the machines of cluster %s run is not known: 'kubectl get nodes -o json' says it", m.cluster.Title())
		case len(found) == 1:
			sheet.Pass(m.place())
		case far(found[0], found[len(found)-1]) > 1:
			sheet.Fail(m.place(), "machines of cluster %s run Talos from %s to %s, more than one minor version apart", m.cluster.Title(), show(found[0]), show(found[len(found)-1]))
		case m.target.Major == 0:
			sheet.Unknown(m.place(), "machines of cluster %s run Talos %s: whether a roll-out is on is not known, since nobody says which is wanted", m.cluster.Title(), list(found))
		case !rolling:
			sheet.Fail(m.place(), "machines of cluster %s run Talos %s, and no roll-out is on that would explain it: none runs the wanted version", m.cluster.Title(), list(found))
		default:
			sheet.Pass(m.place())
		}
	}
}

// differs finds configurations of one cluster that install several versions, and says whether there are any.
func (m *move) differs(sheet *rule.Sheet) bool {
	if m.cluster.Object != nil || m.target.Major == 0 {
		return false // one version is declared for all
	}
	for _, machine := range m.cluster.Machines {
		if version, err := parse(machine.TalosVersion); err == nil && !version.EQ(m.target) {
			sheet.Fail(machine.At("machine.install.image"), "%s installs Talos %s, and another machine of cluster %s %s", machine.Name, show(version), m.cluster.Title(), show(m.target))
			return true
		}
	}
	return false
}

// list names versions.
func list(versions []semver.Version) string {
	var texts []string
	for _, version := range versions {
		texts = append(texts, show(version))
	}
	return strings.Join(texts, " and ")
}

// A told is what Talos told of one machine.
type told struct {
	stage   string
	stopped []string // services that do not run, or are not healthy
}

// toldOf is what Talos told, by the name or address by which a machine was asked.
func toldOf(all *facts.Facts) map[string]*told {
	found := map[string]*told{}
	of := func(node string) *told {
		if found[node] == nil {
			found[node] = &told{}
		}
		return found[node]
	}
	for _, status := range all.Live.Resources[facts.LiveMachineStatuses] {
		of(status.Node).stage = status.String("spec.stage")
	}
	for _, service := range all.Live.Resources[facts.LiveServices] {
		sick := service.String("spec.running") == "false" || service.String("spec.healthy") == "false" && service.String("spec.unknown") != "true"
		if sick && (service.Name() == "etcd" || strings.HasPrefix(service.Name(), "ext-")) {
			of(service.Node).stopped = append(of(service.Node).stopped, service.Name())
		}
	}
	return found
}

// back wants machines to be as they should after an upgrade.
func back(all *facts.Facts, sheet *rule.Sheet) {
	talked := toldOf(all)
	for _, m := range movesOf(all) {
		begun := slices.ContainsFunc(m.running, func(one facts.Running) bool {
			version, err := parse(one.Talos)
			return err == nil && version.EQ(m.target)
		})
		for _, one := range m.running {
			if one.Node == nil {
				continue
			}
			said := talked[one.Name]
			for _, address := range one.Node.Addresses() {
				if said == nil {
					said = talked[address]
				}
			}
			m.judge(sheet, one, said, begun)
		}
	}
	for _, one := range all.Running() {
		if one.Cluster == nil && one.Node != nil && len(all.Clusters) > 0 {
			sheet.Unknown(one.Place, "of which cluster %s is cannot be told by its name", one.Name)
		}
	}
}

// judge judges one machine.
func (m *move) judge(sheet *rule.Sheet, one facts.Running, said *told, begun bool) {
	wrong := m.wrong(one, said)
	version, err := parse(one.Talos)
	if behind := err == nil && m.target.Major > 0 && !version.EQ(m.target); behind && begun {
		wrong = append(wrong, fmt.Sprintf("runs Talos %s, and others run %s already: it fell back, or was not upgraded", show(version), show(m.target)))
	} else if behind && len(wrong) == 0 {
		sheet.Unknown(one.Place, "%s runs Talos %s: the upgrade to %s has not begun, or every machine fell back", one.Name, show(version), show(m.target))
		return
	}
	switch {
	case len(wrong) > 0:
		sheet.Fail(one.Place, "%s %s", one.Name, strings.Join(wrong, "; "))
	case said == nil || said.stage == "":
		sheet.Unknown(one.Place, "%s is Ready, which it can be before its boot ended: 'talosctl get machinestatus,services -o json' says its stage", one.Name)
	default:
		sheet.Pass(one.Place)
	}
}

// wrong says what is wrong with a machine, as what Kubernetes and Talos say of it.
func (m *move) wrong(one facts.Running, said *told) []string {
	var found []string
	if one.Node.Ready() != "True" {
		found = append(found, "is not Ready")
	}
	declared := one.Machine != nil && one.Machine.Pool != nil && one.Machine.Running == nil // of a machine as it runs EXT-014 says so
	if declared && one.Schematic != "" && one.Schematic != one.Machine.Pool.Schematic.ID {
		found = append(found, fmt.Sprintf("runs the schematic %.12s, and its role has %.12s", one.Schematic, one.Machine.Pool.Schematic.ID))
	}
	if said == nil {
		return found
	}
	if said.stage != "" && said.stage != "running" {
		found = append(found, fmt.Sprintf("is in the stage %s, and not running", said.stage))
	}
	if len(said.stopped) > 0 {
		found = append(found, "does not run "+strings.Join(said.stopped, ", "))
	}
	return found
}
