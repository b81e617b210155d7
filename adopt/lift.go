// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"
	"slices"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// A lifter turns a patch into fields of ours. It takes out of the patch what it has turned, and leaves alone what our
// fields would not say in the same way.
type lifter func(fields patch.Document, step Step)

// lift offers every patch of a level to a lifter. Fields are applied before all patches of their level, so a patch that
// others of the level care about stays.
func lift(steps []Step, take lifter) []Step {
	var kept []Step
	for i, step := range steps {
		var patches []Patch
		for j, one := range step.Patches {
			fields := patch.Clone(one.Fields)
			if patch.Commute([]patch.Document{fields}, others(steps, i, j)) {
				take(fields, step)
			}
			switch {
			case reflect.DeepEqual(fields, one.Fields):
				patches = append(patches, one)
			case !patch.IsEmpty(fields):
				patches = append(patches, Patch{Fields: fields, Node: pruned(one.Node, fields)})
			}
		}
		if len(patches) > 0 {
			step.Patches, step.id = patches, ""
			kept = append(kept, step)
		}
	}
	return kept
}

// others are all patches of a level but one.
func others(steps []Step, i, j int) []patch.Document {
	var all []patch.Document
	for at, step := range steps {
		for n, one := range step.Patches {
			if at != i || n != j {
				all = append(all, one.Fields)
			}
		}
	}
	return all
}

// only says whether a patch says nothing but what stands at a path, and returns that.
func only(fields patch.Document, kind string, path ...string) (any, bool) {
	found, _ := fields["kind"].(string)
	value := patch.Get(fields, path...)
	if found != kind || value == nil {
		return nil, false
	}
	rest := patch.Clone(fields)
	return value, patch.Without(rest, path) && patch.IsEmpty(rest)
}

// empty takes all out of a patch.
func empty(fields patch.Document) {
	for key := range fields {
		delete(fields, key)
	}
}

// liftCluster turns what all machines share into fields of the cluster and of the location.
func (p *plan) liftCluster() {
	p.steps = lift(p.steps, p.liftMirrors)
	p.steps = lift(p.steps, func(fields patch.Document, step Step) {
		if cni := cniOf(fields); cni != nil && p.cni == nil {
			p.cni = cni
			p.from.add("cni", step.comment())
			takeCNI(fields)
		}
	})
	p.steps = lift(p.steps, p.liftNetwork)
}

// cniOf reads the choice of a pod network.
func cniOf(fields patch.Document) *api.CNI {
	if fields["kind"] == "KubeFlannelCNIConfig" && fields[patch.Deletion] != nil {
		return &api.CNI{Provider: api.CNINone}
	}
	choice, ok := patch.Get(fields, "cluster", "network", "cni").(patch.Document)
	if _, isOther := fields["kind"]; isOther || !ok {
		return nil
	}
	if len(choice) == 1 {
		provider, known := map[any]api.CNIProvider{"none": api.CNINone, "flannel": api.CNIFlannel}[choice["name"]]
		if known {
			return &api.CNI{Provider: provider}
		}
	}
	urls := texts(choice["urls"])
	if choice["name"] != "custom" || len(choice) != 2 || len(urls) == 0 {
		return nil
	}
	cni := &api.CNI{Provider: providerOf(urls)}
	for _, url := range urls {
		cni.Manifests = append(cni.Manifests, api.URL(url))
	}
	return cni
}

// takeCNI takes the choice out of a patch, which may say more: Minos has to know it, wherever it stands.
func takeCNI(fields patch.Document) {
	if fields["kind"] == "KubeFlannelCNIConfig" {
		empty(fields)
		return
	}
	patch.Without(fields, []string{"cluster", "network", "cni"})
}

// providerOf guesses the pod network from where its manifests are.
func providerOf(urls []string) api.CNIProvider {
	all := strings.ToLower(strings.Join(urls, " "))
	switch {
	case strings.Contains(all, "cilium"):
		return api.CNICilium
	case strings.Contains(all, "calico"), strings.Contains(all, "tigera"):
		return api.CNICalico
	}
	return api.CNINone
}

// liftMirrors turns registry mirrors into those of the cluster. Where another patch speaks of registries too, all stay:
// Talos refuses the old fields beside the documents that replaced them.
func (p *plan) liftMirrors(fields patch.Document, step Step) {
	mirrors := mirrorsOf(fields, p.contract)
	if len(mirrors) == 0 || p.speaksOfRegistries(fields) {
		return
	}
	if p.images == nil {
		p.images = &api.Images{}
	}
	p.images.Mirrors = append(p.images.Mirrors, mirrors...)
	p.from.add("images", step.comment())
	empty(fields)
}

func (p *plan) speaksOfRegistries(but patch.Document) bool {
	lists := [][]Step{p.steps}
	for _, pool := range p.pools {
		lists = append(lists, pool.steps)
		for _, host := range pool.hosts {
			lists = append(lists, host.steps)
		}
	}
	for _, step := range slices.Concat(lists...) {
		for _, one := range step.Patches {
			if patch.Get(one.Fields, "machine", "registries") != nil && !reflect.DeepEqual(one.Fields, but) {
				return true
			}
		}
	}
	return false
}

// mirrorsOf reads mirrors in either shape.
func mirrorsOf(fields patch.Document, contract *talosconfig.VersionContract) []api.RegistryMirror {
	if value, ok := only(fields, "", "machine", "registries", "mirrors"); ok {
		return oldMirrors(value)
	}
	if fields["kind"] != "RegistryMirrorConfig" || !contract.MultidocNetworkConfigSupported() {
		return nil
	}
	var endpoints []string
	list, _ := fields["endpoints"].([]any)
	for _, item := range list {
		endpoint, _ := item.(patch.Document)
		if len(endpoint) != 1 || text(endpoint, "url") == "" {
			return nil
		}
		endpoints = append(endpoints, text(endpoint, "url"))
	}
	if len(endpoints) == 0 || !within(fields, "apiVersion", "kind", "name", "endpoints", "skipFallback") {
		return nil
	}
	return []api.RegistryMirror{mirrorOf(text(fields, "name"), endpoints, fields["skipFallback"])}
}

// oldMirrors reads mirrors from the old field: all of them, or none.
func oldMirrors(value any) []api.RegistryMirror {
	registries, _ := value.(patch.Document)
	var all []api.RegistryMirror
	for _, registry := range ordered(registries) {
		mirror, ok := registries[registry].(patch.Document)
		if !ok || !mirrored(mirror) {
			return nil
		}
		all = append(all, mirrorOf(registry, texts(mirror["endpoints"]), mirror["skipFallback"]))
	}
	return all
}

// mirrored says whether our mirrors can say what one of the old shape says.
func mirrored(mirror patch.Document) bool {
	return len(texts(mirror["endpoints"])) > 0 && within(mirror, "endpoints", "skipFallback")
}

// within says whether a mapping has no keys but these.
func within(fields patch.Document, keys ...string) bool {
	for key := range fields {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

func mirrorOf(registry string, endpoints []string, skipFallback any) api.RegistryMirror {
	mirror := api.RegistryMirror{Registry: registry}
	if skipFallback == true {
		mirror.Fallback = api.FallbackNever
	}
	for _, endpoint := range endpoints {
		mirror.Endpoints = append(mirror.Endpoints, api.URL(endpoint))
	}
	return mirror
}
