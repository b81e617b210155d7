// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// uses says whether a cluster uses a storage: because somebody decided so, or because its chart or its manifests are in the folder.
func uses(all *facts.Facts, cluster *facts.Cluster, names ...string) bool {
	if cluster.Decided(api.DecisionStorage, names...) {
		return true
	}
	has := func(text string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(text), name) })
	}
	return slices.ContainsFunc(all.Values, func(values *facts.Values) bool { return has(values.Chart) }) ||
		slices.ContainsFunc(all.Manifests, func(manifest *facts.Document) bool {
			return manifest.Kind() == "StorageClass" && has(manifest.String("provisioner")) || has(manifest.Namespace())
		})
}

// holders are the machines of a cluster that hold data: workers of a role for storage, or else all workers, or else all.
func holders(cluster *facts.Cluster) []*facts.Machine {
	workers := cluster.Workers()
	named := slices.DeleteFunc(slices.Clone(workers), func(machine *facts.Machine) bool {
		return machine.Pool == nil || !strings.Contains(string(machine.Pool.Object.Spec.Role), "storage")
	})
	switch {
	case len(named) > 0:
		return named
	case len(workers) > 0:
		return workers
	}
	return cluster.Machines
}

// stateful finds an object that keeps data; nil if there is none.
func stateful(all *facts.Facts) *facts.Document {
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "PersistentVolumeClaim" || manifest.Kind() == "StatefulSet" && len(manifest.List("spec.volumeClaimTemplates")) > 0 {
			return manifest
		}
	}
	return nil
}

// decided wants a choice where data is kept.
func decided(all *facts.Facts, sheet *rule.Sheet) {
	keeps := stateful(all)
	for _, cluster := range all.Clusters {
		decision, known := cluster.Decision(api.DecisionStorage)
		switch {
		case keeps == nil && !all.Has(facts.Manifests) && !known:
			sheet.Unknown(cluster.At("spec.decisions"), "there are no manifests here that would say whether workloads keep data, and no decision about storage")
		case keeps == nil:
		case !known && cluster.Object == nil:
			sheet.Unknown(cluster.At(""), "cluster %s is not declared, so that there is no place for its decision about storage", cluster.Title())
		case !known:
			sheet.Fail(all.InDocument(keeps, "kind"), "%s %s keeps data, and nobody decided where cluster %s has it", keeps.Kind(), keeps.Name(), cluster.Title())
		case strings.EqualFold(decision.Answer, "none"):
			sheet.Fail(all.InDocument(keeps, "kind"), "%s %s keeps data, and cluster %s decided for no storage", keeps.Kind(), keeps.Name(), cluster.Title())
		default:
			sheet.Pass(cluster.At("spec.decisions"))
		}
	}
}

// local are the classes of storage that is on one machine.
func local(all *facts.Facts) []string {
	names := []string{"local-path"}
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "StorageClass" && (manifest.String("provisioner") == "rancher.io/local-path" || manifest.String("provisioner") == "kubernetes.io/no-provisioner") {
			names = append(names, manifest.Name())
		}
	}
	return names
}

// copies wants stateful sets on local disks to have copies.
func copies(all *facts.Facts, sheet *rule.Sheet) {
	classes := local(all)
	for _, manifest := range all.Manifests {
		if manifest.Kind() != "StatefulSet" || !slices.ContainsFunc(manifest.List("spec.volumeClaimTemplates"), func(claim any) bool {
			return slices.Contains(classes, facts.Text(facts.Get(claim, "spec.storageClassName")))
		}) {
			continue
		}
		if replicas := manifest.String("spec.replicas"); replicas == "" || replicas == "1" {
			sheet.Fail(all.InDocument(manifest, "spec.replicas"), "StatefulSet %s keeps its only copy on the disk of one machine", manifest.Name())
			continue
		}
		sheet.Pass(all.InDocument(manifest, "spec.replicas"))
	}
}

// clouds are the platforms of storage drivers.
var clouds = map[string]string{
	"ebs.csi.aws.com": "aws", "efs.csi.aws.com": "aws", "pd.csi.storage.gke.io": "gcp", "disk.csi.azure.com": "azure", "file.csi.azure.com": "azure",
	"csi.hetzner.cloud": "hcloud", "dobs.csi.digitalocean.com": "digital-ocean", "csi.vsphere.vmware.com": "vmware", "cinder.csi.openstack.org": "openstack",
	"csi.vultr.com": "vultr", "block.csi.scaleway.com": "scaleway", "blockvolume.csi.oraclecloud.com": "oracle",
}

// atHome wants a cloud's driver where that cloud is.
func atHome(all *facts.Facts, sheet *rule.Sheet) {
	for _, manifest := range all.Manifests {
		platform, cloud := clouds[manifest.String("provisioner")]
		if manifest.Kind() != "StorageClass" || !cloud {
			continue
		}
		for _, machine := range all.Machines {
			switch place := all.InDocument(manifest, "provisioner"); {
			case machine.Platform == "":
				sheet.Unknown(place, "the platform of %s is not known", machine.Name)
			case machine.Platform != platform:
				sheet.Fail(place, "StorageClass %s is for %s, and %s runs on %s", manifest.Name(), platform, machine.Name, machine.Platform)
			default:
				sheet.Pass(place)
			}
		}
	}
}
