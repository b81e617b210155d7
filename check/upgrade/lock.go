// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"fmt"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// locked wants everything that decides what runs on machines to be fixed by what is committed. A declaration of ours does that in
// itself: it has exact versions, and names what is in an image, whose identity follows from it.
func locked(all *facts.Facts, sheet *rule.Sheet) {
	committed := map[string]bool{}
	for _, file := range all.Files {
		committed[file.Path] = file.Tracked
	}
	for _, cluster := range all.Clusters {
		var loose []string
		if cluster.Object != nil {
			loose = append(loose, uncommitted(all, cluster, committed)...)
		}
		for _, machine := range cluster.Machines {
			if machine.Pool == nil {
				loose = append(loose, open(machine, committed)...)
			}
		}
		if len(loose) == 0 {
			sheet.Pass(cluster.At("metadata.name"))
			continue
		}
		more := ""
		if len(loose) > 1 {
			more = fmt.Sprintf(" (and %d more)", len(loose)-1)
		}
		sheet.Fail(cluster.At("metadata.name"), "what runs on machines of cluster %s cannot be made again from what is committed: %s%s", cluster.Title(), loose[0], more)
	}
}

// uncommitted are the files of a declared cluster that nobody committed.
func uncommitted(all *facts.Facts, cluster *facts.Cluster, committed map[string]bool) []string {
	files := []string{cluster.Document.File}
	for _, pool := range cluster.Pools {
		files = append(files, pool.Document.File)
		for _, document := range all.Documents {
			if _, is := document.Object.(*api.NodeRole); is && document.Object.GetName() == string(pool.Object.Spec.Role) {
				files = append(files, document.File)
			}
		}
	}
	slices.Sort(files)
	var loose []string
	for _, file := range slices.Compact(files) {
		if !committed[file] {
			loose = append(loose, file+" is not committed")
		}
	}
	return loose
}

// open is what the configuration of a machine leaves open.
func open(machine *facts.Machine, committed map[string]bool) []string {
	var loose []string
	add := func(is bool, text string) {
		if is {
			loose = append(loose, machine.Name+" "+text)
		}
	}
	image := machine.InstallImage()
	add(!committed[machine.File], "has a configuration that is not committed")
	add(image == "", "names no image to be installed with")
	add(image != "" && machine.TalosVersion == "" && !strings.Contains(image, "@sha256:"), "is installed with an image without an exact version")
	add(machine.TalosVersion != "" && image != "" && !machine.ExtensionsKnown, "is installed with a schematic that is not in this folder, so that its extensions cannot be read")
	add(machine.KubernetesVersion == "", "names no version of the kubelet")
	return loose
}
