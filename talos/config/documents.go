// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/config"

	api "minos.dev/minos/api/v1alpha1"
)

// A document is a configuration document or a strategic patch of one.
type document = map[string]any

// A setter writes what our kinds have words for in the shape that a Talos version takes: in the fields of the one old
// document, or in the documents that replaced them. Both at once is refused by Talos.
type setter struct {
	contract *config.VersionContract
	old      document // the patch of the v1alpha1 document
	new      []document
}

func newSetter(contract *config.VersionContract) *setter {
	return &setter{contract: contract, old: document{}}
}

// documents returns what was set.
func (s *setter) documents() []document {
	if len(s.old) == 0 {
		return s.new
	}
	return append([]document{s.old}, s.new...)
}

// field sets a field of the v1alpha1 document.
func (s *setter) field(value any, path ...string) {
	node := s.old
	for _, key := range path[:len(path)-1] {
		below, ok := node[key].(document)
		if !ok {
			below = document{}
			node[key] = below
		}
		node = below
	}
	node[path[len(path)-1]] = value
}

// add adds a document of a kind.
func (s *setter) add(kind string, fields document) {
	fields["apiVersion"], fields["kind"] = "v1alpha1", kind
	s.new = append(s.new, fields)
}

// labels puts labels on the Node.
func (s *setter) labels(labels map[string]string) {
	switch {
	case len(labels) == 0:
	case s.contract.MultidocKubernetesConfigSupported():
		s.add("KubeNodeConfig", document{"labels": labels})
	default:
		s.field(labels, "machine", "nodeLabels")
	}
}

// taints puts taints on the Node. Talos writes a taint as its key, with value and effect behind it.
func (s *setter) taints(taints []api.Taint) {
	if len(taints) == 0 {
		return
	}
	written := map[string]string{}
	for _, taint := range taints {
		written[taint.Key] = taint.Value + ":" + string(taint.Effect)
	}
	if s.contract.MultidocKubernetesConfigSupported() {
		s.add("KubeNodeConfig", document{"taints": written})
		return
	}
	s.field(written, "machine", "nodeTaints")
}

// sysctls sets kernel settings.
func (s *setter) sysctls(sysctls map[string]string) {
	switch {
	case len(sysctls) == 0:
	case s.contract.MultidocSysctlConfigSupported():
		s.add("SysctlConfig", document{"params": sysctls})
	default:
		s.field(sysctls, "machine", "sysctls")
	}
}

// modules loads kernel modules.
func (s *setter) modules(modules []api.KernelModule) {
	var old []any
	for _, module := range modules {
		one := document{"name": module.Name}
		if len(module.Parameters) > 0 {
			one["parameters"] = module.Parameters
		}
		if s.contract.MultidocKernelModuleConfigSupported() {
			s.add("KernelModuleConfig", one)
			continue
		}
		old = append(old, one)
	}
	if len(old) > 0 {
		s.field(old, "machine", "kernel", "modules")
	}
}

// mirrors sets registry mirrors. Those of the pool stand in place of the cluster's of the same registries.
func (s *setter) mirrors(mirrors []api.RegistryMirror) {
	for _, mirror := range mirrors {
		var endpoints []any
		for _, endpoint := range mirror.Endpoints {
			endpoints = append(endpoints, document{"url": string(endpoint)})
		}
		if s.contract.MultidocNetworkConfigSupported() { // registry documents came with those of the network
			s.add("RegistryMirrorConfig", document{"name": mirror.Registry, "endpoints": endpoints, "skipFallback": mirror.Fallback == api.FallbackNever})
			continue
		}
		s.field(document{"endpoints": texts(mirror.Endpoints), "skipFallback": mirror.Fallback == api.FallbackNever},
			"machine", "registries", "mirrors", mirror.Registry)
	}
}

// network sets name servers, search domains and time servers.
func (s *setter) network(network *api.PlaceNetwork) {
	if network == nil {
		return
	}
	if !s.contract.MultidocNetworkConfigSupported() {
		s.oldNetwork(network)
		return
	}
	resolver := document{}
	for _, address := range network.Nameservers {
		servers, _ := resolver["nameservers"].([]any)
		resolver["nameservers"] = append(servers, document{"address": string(address)})
	}
	if len(network.SearchDomains) > 0 {
		resolver["searchDomains"] = document{"domains": network.SearchDomains}
	}
	if len(resolver) > 0 {
		s.add("ResolverConfig", resolver)
	}
	if len(network.TimeServers) > 0 {
		s.add("TimeSyncConfig", document{"ntp": document{"servers": network.TimeServers}})
	}
}

// oldNetwork is network for versions without network documents.
func (s *setter) oldNetwork(network *api.PlaceNetwork) {
	if len(network.Nameservers) > 0 {
		s.field(texts(network.Nameservers), "machine", "network", "nameservers")
	}
	if len(network.SearchDomains) > 0 {
		s.field(network.SearchDomains, "machine", "network", "searchDomains")
	}
	if len(network.TimeServers) > 0 {
		s.field(network.TimeServers, "machine", "time", "servers")
	}
}

// cni chooses the pod network, on the machines that install it: those of the control plane.
func (s *setter) cni(cni *api.CNI) {
	if cni == nil || cni.Provider == api.CNIFlannel {
		return
	}
	if !s.contract.MultidocKubernetesConfigSupported() {
		network := document{"name": "none"}
		if len(cni.Manifests) > 0 {
			network = document{"name": "custom", "urls": texts(cni.Manifests)}
		}
		s.field(network, "cluster", "network", "cni")
		return
	}
	s.add("KubeFlannelCNIConfig", document{deletion: "delete"})
	for i, manifest := range cni.Manifests {
		s.add("KubeExternalManifestConfig", document{"name": "cni-" + string(rune('a'+i)), "url": string(manifest)})
	}
}

// mirrorsOf are the mirrors of a pool: its own, and the cluster's of other registries.
func mirrorsOf(cluster *api.Images, pool *api.PoolConfig) []api.RegistryMirror {
	var mirrors []api.RegistryMirror
	if pool != nil {
		mirrors = append(mirrors, pool.Mirrors...)
	}
	if cluster != nil {
		for _, mirror := range cluster.Mirrors {
			if !slices.ContainsFunc(mirrors, func(m api.RegistryMirror) bool { return m.Registry == mirror.Registry }) {
				mirrors = append(mirrors, mirror)
			}
		}
	}
	slices.SortFunc(mirrors, func(a, b api.RegistryMirror) int { return cmp.Compare(a.Registry, b.Registry) })
	return mirrors
}
