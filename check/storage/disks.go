// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// zfs wants the extension and the module together.
func zfs(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			continue
		}
		_, loaded := machine.Modules()["zfs"]
		switch has := machine.HasExtension("zfs"); {
		case !machine.ExtensionsKnown && loaded:
			sheet.Unknown(machine.At(""), "%s loads the module zfs, and which extensions are in its image is not known", machine.Name)
		case has && !loaded:
			sheet.Fail(machine.At("machine.kernel.modules"), "%s has the extension zfs and does not load the module: its boot never ends", machine.Name)
		case loaded && !has:
			sheet.Fail(machine.At("machine.kernel.modules"), "%s loads the module zfs, which its image does not have", machine.Name)
		case has:
			sheet.Pass(machine.At("machine.kernel.modules"))
		}
	}
}

// both wants somebody to know what DRBD and ZFS do together.
func both(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !machine.HasExtension("drbd") || !machine.HasExtension("zfs") {
			continue
		}
		if machine.Notes[facts.NoteDRBDWithZFS] != "" {
			sheet.Pass(machine.At(""))
			continue
		}
		sheet.Fail(machine.At(""), "%s has both DRBD and ZFS: a pool of ZFS on a DRBD device hangs at boot", machine.Name)
	}
}

// nfs wants a server that survives, and locks that work.
func nfs(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !cluster.Decided(api.DecisionStorage, "nfs") && !slices.ContainsFunc(all.Manifests, mountsNFS) {
			continue
		}
		if cluster.Notes[facts.NoteNFSRedundancy] == "" {
			sheet.Fail(cluster.At("spec.decisions"), "cluster %s keeps data on NFS, and nobody noted how the server survives", cluster.Title())
		} else {
			sheet.Pass(cluster.At("spec.decisions"))
		}
		for _, manifest := range all.Manifests {
			if slices.ContainsFunc(slices.Concat(manifest.List("spec.mountOptions"), manifest.List("mountOptions")), oldVersion) {
				locks(cluster, sheet, all.InDocument(manifest, "mountOptions"), manifest.Name())
			}
		}
	}
}

// locks wants the workers of a cluster that mounts NFS version 3 to have what its locks need.
func locks(cluster *facts.Cluster, sheet *rule.Sheet, place facts.Place, volume string) {
	for _, machine := range cluster.Workers() {
		if machine.ExtensionsKnown && machine.Since("1.12") && !machine.HasExtension("nfs-utils") {
			sheet.Fail(place, "%s mounts NFS version 3, and %s has no nfs-utils for its locks", volume, machine.Name)
		}
	}
}

// mountsNFS says whether an object is a volume or a class of NFS.
func mountsNFS(manifest *facts.Document) bool {
	return manifest.Get("spec.nfs") != nil || manifest.Kind() == "StorageClass" && strings.Contains(manifest.String("provisioner"), "nfs")
}

// oldVersion says whether an option asks for NFS version 3.
func oldVersion(option any) bool {
	return slices.Contains([]string{"nfsvers=3", "vers=3"}, facts.Text(option))
}

// iscsi wants no in-tree iSCSI where workloads are isolated.
func iscsi(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || !machine.Since("1.14") || machine.Config.SecurityProfileConfig() == nil || !machine.Config.SecurityProfileConfig().WorkloadIsolation() {
			continue
		}
		fine := true
		for _, manifest := range all.Manifests {
			if manifest.Get("spec.iscsi") != nil || slices.ContainsFunc(volumes(manifest), func(volume any) bool { return facts.Get(volume, "iscsi") != nil }) {
				fine = false
				sheet.Fail(all.InDocument(manifest, "spec"), "%s %s uses in-tree iSCSI, and %s isolates its workloads", manifest.Kind(), manifest.Name(), machine.Name)
			}
		}
		if fine {
			sheet.Pass(machine.At(""))
		}
	}
}

// volumes are those of a pod, or of what makes pods.
func volumes(manifest *facts.Document) []any {
	return append(manifest.List("spec.volumes"), manifest.List("spec.template.spec.volumes")...)
}

// came is the minor version that a volume document came with.
var came = map[string]string{"UserVolumeConfig": "1.10", "RawVolumeConfig": "1.11", "ExistingVolumeConfig": "1.11", "SwapVolumeConfig": "1.11"}

// known wants disks to be described as the version knows it.
func known(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			continue
		}
		own := machine.Config.Machine()
		if own != nil && len(own.Disks()) > 0 {
			if machine.TalosVersion == "" {
				sheet.Unknown(machine.At("machine.disks"), "the Talos version of %s is not known", machine.Name)
			} else if machine.Since("1.10") {
				sheet.Fail(machine.At("machine.disks"), "%s uses machine.disks, which volume documents replaced with Talos 1.10", machine.Name)
			}
		}
		for _, document := range machine.Config.Documents() {
			switch since := came[document.Kind()]; {
			case since == "":
			case machine.Before(since):
				sheet.FailAs(rule.Error, machine.DocumentAt(document.Kind(), "", "kind"), "%s has a %s, which Talos %s does not know: it came with %s", machine.Name, document.Kind(), machine.TalosVersion, since)
			default:
				sheet.Pass(machine.DocumentAt(document.Kind(), "", "kind"))
			}
		}
	}
}

// apart wants data on a disk of its own.
func apart(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			continue
		}
		for _, volume := range machine.Config.UserVolumeConfigs() {
			selector, given := volume.Provisioning().DiskSelector().Get()
			text := ""
			if encoded, err := selector.MarshalText(); given && err == nil {
				text = string(encoded)
			}
			place := machine.DocumentAt("UserVolumeConfig", volume.Name(), "provisioning.diskSelector.match")
			if strings.Contains(strings.ReplaceAll(text, "!system_disk", ""), "system_disk") {
				sheet.Fail(place, "volume %s of %s is on the disk of the system", volume.Name(), machine.Name)
				continue
			}
			sheet.Pass(place)
		}
	}
}

// dataPath wants data to be on a volume of its own.
func dataPath(all *facts.Facts, sheet *rule.Sheet) {
	for _, values := range all.Values {
		if values.Chart != "longhorn" {
			continue
		}
		path := values.String("defaultSettings.defaultDataPath")
		if path == "" {
			path = "/var/lib/longhorn"
		}
		judgePath(all, sheet, all.InDocument(values.Document, values.Prefix+"defaultSettings.defaultDataPath"), path)
	}
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "ConfigMap" && strings.Contains(manifest.Name(), "local-path") {
			for _, path := range localPaths(manifest.String("data[config.json]")) {
				judgePath(all, sheet, all.InDocument(manifest, "data"), path)
			}
		}
	}
}

// judgePath judges where data lies.
func judgePath(all *facts.Facts, sheet *rule.Sheet, place facts.Place, path string) {
	name, ours := strings.CutPrefix(path, "/var/mnt/")
	name, _, _ = strings.Cut(name, "/")
	switch {
	case !ours:
		sheet.Fail(place, "data lies at %s, which is on EPHEMERAL", path)
	case !slices.ContainsFunc(all.Machines, func(machine *facts.Machine) bool { return hasVolume(machine, name) }):
		if len(all.Machines) == 0 {
			sheet.Unknown(place, "data lies at %s, and there are no machine configurations that would say whether there is such a volume", path)
			return
		}
		sheet.Fail(place, "data lies at %s, and no machine has a UserVolumeConfig %q", path, name)
	default:
		sheet.Pass(place)
	}
}

// hasVolume says whether a machine has a volume of a name.
func hasVolume(machine *facts.Machine, name string) bool {
	if machine.Config == nil {
		return false
	}
	for _, volume := range machine.Config.UserVolumeConfigs() {
		if volume.Name() == name {
			return true
		}
	}
	return false
}
