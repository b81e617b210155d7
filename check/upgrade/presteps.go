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

// A chore is something that has to be done before machines get a minor version.
type chore struct {
	minor    semver.Version
	severity rule.Severity
	place    facts.Place
	text     string
}

// The minor versions before which something has to be done.
var (
	withOperator  = semver.MustParse("1.13.0")
	withDocuments = semver.MustParse("1.14.0")
)

// prepared wants everything done that a version needs to be done before it comes.
func prepared(all *facts.Facts, sheet *rule.Sheet) {
	commands := scripted(all) // once: they are those of the folder, for every cluster
	for _, m := range movesOf(all) {
		if m.target.Major == 0 {
			sheet.Unknown(m.place(), "%s", m.unknown)
			continue
		}
		due, fine := slices.Concat(m.graphics(all), m.documents(), m.volumes(all), commands), true
		for _, one := range due {
			switch {
			case far(one.minor, m.target) < 0:
			case m.unknown != "":
				fine = false
				sheet.Unknown(one.place, "if Talos %s is an upgrade, then %s; %s", show(m.target), one.text, m.unknown)
			case m.crosses(one.minor):
				fine = false
				sheet.FailAs(one.severity, one.place, "before Talos %d.%d: %s", one.minor.Major, one.minor.Minor, one.text)
			}
		}
		if fine && (m.crosses(withOperator) || m.crosses(withDocuments)) {
			sheet.Pass(m.place())
		}
	}
}

// crosses says whether a cluster comes from before a minor version and gets to it, or beyond.
func (m *move) crosses(minor semver.Version) bool {
	return slices.ContainsFunc(m.routes, func(route []semver.Version) bool { return far(minor, route[0]) < 0 && far(minor, m.target) >= 0 })
}

// graphics are what is left of the old ways of NVIDIA.
func (m *move) graphics(all *facts.Facts) []chore {
	nvidia := slices.ContainsFunc(m.cluster.Machines, func(machine *facts.Machine) bool {
		return slices.ContainsFunc(machine.Extensions, func(name string) bool { return strings.HasPrefix(name, "nvidia-container-toolkit") })
	})
	if !nvidia {
		return nil
	}
	var found []chore
	for _, manifest := range all.Manifests {
		plugin := manifest.Kind() == "DaemonSet" && strings.Contains(manifest.Name(), "nvidia-device-plugin")
		if plugin || manifest.Kind() == "RuntimeClass" && manifest.String("handler") == "nvidia" {
			text := fmt.Sprintf("%s %s has to go: Talos hands processors out in another way, and pods that ask for the old one do not start", manifest.Kind(), manifest.Name())
			found = append(found, chore{withOperator, rule.Error, all.InDocument(manifest, "kind"), text})
		}
	}
	if !slices.ContainsFunc(all.Values, func(values *facts.Values) bool { return values.Chart == "gpu-operator" }) {
		found = append(found, chore{withOperator, rule.Warning, m.place(), "the GPU operator of NVIDIA takes the place of the device plugin, and is not among the manifests here"})
	}
	return found
}

// documents are what Talos 1.14 does not take any more, or takes otherwise.
func (m *move) documents() []chore {
	var found []chore
	for _, machine := range m.cluster.Machines {
		if machine.Config == nil {
			continue
		}
		if strings.HasPrefix(machine.InstallImage(), "ghcr.io/siderolabs/installer") {
			text := fmt.Sprintf("%s is installed with %s, and there is no such image of 1.14: name one of a factory", machine.Name, machine.InstallImage())
			found = append(found, chore{withDocuments, rule.Error, machine.At("machine.install.image"), text})
		}
		if own := machine.Config.Machine(); own != nil && len(own.Disks()) > 0 {
			text := fmt.Sprintf("%s uses machine.disks: write volume documents, which know the disks of etcd, images and logs too", machine.Name)
			found = append(found, chore{withDocuments, rule.Warning, machine.At("machine.disks"), text})
		}
	}
	return found
}

// volumes are what is attached in a way that isolated workloads do not reach.
func (m *move) volumes(all *facts.Facts) []chore {
	isolated := slices.ContainsFunc(m.cluster.Machines, func(machine *facts.Machine) bool {
		return machine.Config != nil && machine.Config.SecurityProfileConfig() != nil && machine.Config.SecurityProfileConfig().WorkloadIsolation()
	})
	var found []chore
	severity, text := rule.Error, "uses in-tree iSCSI, which isolated workloads do not reach"
	if !isolated {
		severity, text = rule.Warning, "uses in-tree iSCSI, which stops working once workloads are isolated, as 1.14 does on new machines"
	}
	for _, manifest := range all.Manifests {
		if inTree(manifest) && (isolated || m.cluster.Notes[facts.NoteWorkloadIsolation] == "") {
			found = append(found, chore{withDocuments, severity, all.InDocument(manifest, "spec"), fmt.Sprintf("%s %s %s", manifest.Kind(), manifest.Name(), text)})
		}
	}
	return found
}

// inTree says whether an object uses iSCSI without a driver: as a volume, or in pods.
func inTree(manifest *facts.Document) bool {
	if manifest.Get("spec.iscsi") != nil {
		return true
	}
	return slices.ContainsFunc(slices.Concat(manifest.List("spec.volumes"), manifest.List("spec.template.spec.volumes")), func(volume any) bool {
		return facts.Get(volume, "iscsi") != nil
	})
}

// scripted are commands that Talos 1.14 does not understand.
func scripted(all *facts.Facts) []chore {
	var found []chore
	for _, file := range scripts(all) {
		for number, text := range joined(file) {
			if restarting.MatchString(text) {
				found = append(found, chore{withDocuments, rule.Warning, all.InTree(file, number+1), "this applies a configuration with the mode reboot, which is gone: apply it, and reboot with 'talosctl reboot'"})
			}
		}
	}
	return found
}
