// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// separate wants every object to have one owner: Talos what is below Kubernetes, Argo CD or Flux what is above.
func separate(all *facts.Facts, sheet *rule.Sheet) {
	var folders []string
	for _, manifest := range all.Manifests {
		if isDelivery(manifest) {
			folders = append(folders, judgeDelivery(all, sheet, manifest)...)
		}
	}
	owned := ownedAbove(all, folders)
	for _, machine := range all.Machines {
		if machine.Config == nil || !machine.ControlPlane || len(machine.Config.K8sInlineManifestConfigs()) == 0 {
			continue
		}
		if len(all.Manifests)+len(all.Values) == 0 {
			sheet.Unknown(manifestsAt(machine), "%s brings manifests, and what Argo CD or Flux own is not in this folder", machine.Name)
			continue
		}
		judgeInline(sheet, machine, owned)
	}
}

// judgeDelivery wants no machine configuration in a folder that is delivered to a cluster, and returns such folders.
func judgeDelivery(all *facts.Facts, sheet *rule.Sheet, delivery *facts.Document) []string {
	var folders []string
	for _, at := range []string{"spec.source.path", "spec.path", "spec.template.spec.source.path"} {
		folder, ok := delivery.Get(at).(string)
		if !ok {
			continue
		}
		folders = append(folders, folder)
		for _, machine := range all.Machines {
			if machine.Pool == nil && below(machine.File, folder) {
				sheet.Fail(all.InDocument(delivery, at), "%s %s delivers %s, where the configuration of %s is: it is none of the cluster's objects", delivery.Kind(), delivery.Name(), folder, machine.Name)
				return folders
			}
		}
		sheet.Pass(all.InDocument(delivery, at))
	}
	return folders
}

// below says whether a file is in a folder, or further down.
func below(file, folder string) bool {
	folder = strings.TrimPrefix(path.Clean("/"+folder), "/")
	return folder == "" || strings.HasPrefix(file, folder+"/")
}

// ownedAbove are the objects and the charts that Argo CD or Flux bring, by kind, namespace and name, each with where that is said.
func ownedAbove(all *facts.Facts, folders []string) map[string]string {
	owned := map[string]string{}
	for _, values := range all.Values {
		kind := values.Document.Kind()
		if kind == "HelmRelease" || kind == "Application" {
			owned["chart "+values.Chart] = values.Document.File.Path
		}
	}
	for _, manifest := range all.Manifests {
		switch chart := manifest.String("spec.source.chart") + manifest.String("spec.chart.spec.chart"); {
		case chart != "":
			owned["chart "+chart] = manifest.File.Path
		case slices.ContainsFunc(folders, func(folder string) bool { return below(manifest.File.Path, folder) }):
			owned[identity(manifest.Body)] = manifest.File.Path
		}
	}
	return owned
}

// identity tells one object from another.
func identity(object map[string]any) string {
	text := func(path string) string { return facts.Text(facts.Get(object, path)) }
	return text("kind") + " " + text("metadata.namespace") + "/" + text("metadata.name")
}

// judgeInline wants the manifests that Talos brings to be nobody else's.
func judgeInline(sheet *rule.Sheet, machine *facts.Machine, owned map[string]string) {
	for _, inline := range machine.Config.K8sInlineManifestConfigs() {
		keys := []string{"chart " + inline.Name()}
		for _, object := range objects(inline.Contents()) {
			keys = append(keys, identity(object))
		}
		for _, key := range keys {
			if file, taken := owned[key]; taken {
				sheet.Fail(manifestsAt(machine), "%s brings %s by the manifest %s, and %s has Argo CD or Flux bring it too: one undoes what the other does", machine.Name, key, inline.Name(), file)
				return
			}
		}
	}
	sheet.Pass(manifestsAt(machine))
}

// objects are the Kubernetes objects of a text. What cannot be read has none: Talos says so when it applies it.
func objects(text string) []map[string]any {
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var found []map[string]any
	for len(found) < 1000 {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return found
		}
		if len(object) > 0 {
			found = append(found, object)
		}
	}
	return found
}
