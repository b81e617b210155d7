// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"net/netip"
	"slices"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

// A Machine is one machine and its configuration; or, where machines are made on demand, what each machine of a pool gets.
type Machine struct {
	// Name is its name, or its pool's where machines have no names yet.
	Name string
	// Count is how many machines these facts stand for.
	Count int
	// Cluster is the cluster that it is of.
	Cluster *Cluster
	// Pool is its pool; nil for a configuration that was found as a file.
	Pool *Pool
	// Host is the declared machine of metal; nil for others.
	Host *api.MetalHost
	// Running is what it runs, of a machine that was seen running; nil for one that is declared or configured only.
	Running *Running
	// ControlPlane says that it runs the control plane.
	ControlPlane bool
	// Platform is what Talos calls where it runs, for example metal; empty if that is not known.
	Platform string
	// Architecture is its processor's; empty if that is not known.
	Architecture api.Architecture
	// TalosVersion and KubernetesVersion are what it should have; empty if that is not known.
	TalosVersion      api.TalosVersion
	KubernetesVersion api.KubernetesVersion
	// Extensions are the system extensions of its image, by name without prefix and sorted; and ExtensionsKnown whether that is
	// known at all: the configuration of a machine names an image by what cannot be read backwards.
	Extensions      []string
	ExtensionsKnown bool
	// Notes are what people declare about it.
	Notes map[Note]string

	// File is where its configuration stands, or its declaration; and Documents the parts of a configuration that was found as
	// a file.
	File      string
	Documents []*Document
	// Text is its configuration. That of a declared machine has placeholders for all secrets.
	Text []byte
	// Config is its configuration as Talos reads it: old fields and new documents alike. Nil if it could not be read.
	Config talosconfig.Provider
	// LoadError says why it could not be read.
	LoadError error
	// Rendered says that Minos made the configuration, from a declaration.
	Rendered bool
}

// load has Talos read the configuration.
func (m *Machine) load() {
	provider, err := configloader.NewFromBytes(m.Text)
	if err != nil {
		m.LoadError = err
		return
	}
	m.Config = provider
}

// At is a field of its configuration as a place. Of a declared machine it is the declaration, since that is what people change.
func (m *Machine) At(path string) Place {
	place := Place{Machine: m.Name, File: m.File, Path: path}
	if m.Cluster != nil {
		place.Cluster, place.Environment = m.Cluster.Title(), m.Cluster.Environment
	}
	if m.Pool != nil && m.Running == nil {
		place.Line = m.Pool.Document.LineOf("spec")
	}
	for at, document := range m.Documents {
		if at == 0 || document.Get(path) != nil { // what is not there has the line of what would hold it
			place.Line = document.LineOf(path)
		}
	}
	return place
}

// DocumentAt is a field of one of its documents, by kind and name, as a place; of the machine, if there is no such document.
func (m *Machine) DocumentAt(kind, name, path string) Place {
	for _, document := range m.Documents {
		if document.Kind() == kind && (name == "" || document.String("name") == name) {
			place := m.At("")
			place.Line, place.Path = document.LineOf(path), fmt.Sprintf("%s.%s", kind, path)
			return place
		}
	}
	return m.At("")
}

// Since says whether its Talos is of a minor version such as "1.14" or newer; unknown is not since. A pre-release counts as its
// release.
func (m *Machine) Since(minor string) bool { return Since(string(m.TalosVersion), minor) }

// Before says whether its Talos is older than a minor version such as "1.14"; unknown is not before.
func (m *Machine) Before(minor string) bool {
	return m.TalosVersion != "" && !Since(string(m.TalosVersion), minor)
}

// HasExtension says whether its image has an extension. It is false as well where the image is not known: ask ExtensionsKnown.
func (m *Machine) HasExtension(name string) bool { return slices.Contains(m.Extensions, name) }

// Services are the services of its image's extensions, as the catalogue knows them.
func (m *Machine) Services() ([]extension.Service, error) {
	catalogue, err := extension.Load()
	if err != nil {
		return nil, err
	}
	var services []extension.Service
	for _, name := range m.Extensions {
		found, _ := catalogue.Find(name)
		services = append(services, found.Services...)
	}
	return services, nil
}

// Modules are the kernel modules that its configuration loads, with their parameters.
func (m *Machine) Modules() map[string][]string {
	found := map[string][]string{}
	if m.Config != nil {
		for _, module := range m.Config.KernelModuleConfigs() {
			found[module.Name()] = module.Parameters()
		}
	}
	return found
}

// Sysctls are the kernel settings of its configuration.
func (m *Machine) Sysctls() map[string]string {
	if m.Config == nil {
		return nil
	}
	return m.Config.SysctlConfig()
}

// ServiceConfig is the environment of the configuration of an extension service, and whether there is one.
func (m *Machine) ServiceConfig(name string) (environment []string, ok bool) {
	if m.Config == nil {
		return nil, false
	}
	for _, service := range m.Config.ExtensionServiceConfigs() {
		if service.Name() == name {
			return service.Environment(), true
		}
	}
	return nil, false
}

// network is the cluster's networks, as the machine has them.
func (m *Machine) network() (api.ClusterNetwork, bool) {
	if m.Config == nil || m.Config.K8sNetworkConfig() == nil {
		return api.ClusterNetwork{}, false
	}
	own := m.Config.K8sNetworkConfig()
	network := api.ClusterNetwork{DNSDomain: own.DNSDomain()}
	for _, prefix := range own.PodCIDRs() {
		network.PodCIDRs = append(network.PodCIDRs, api.CIDR(prefix.String()))
	}
	for _, prefix := range own.ServiceCIDRs() {
		network.ServiceCIDRs = append(network.ServiceCIDRs, api.CIDR(prefix.String()))
	}
	return network, true
}

// Prefixes are networks as they can be computed with. What is none is left out: the definitions say so elsewhere.
func Prefixes(networks []api.CIDR) []netip.Prefix {
	var found []netip.Prefix
	for _, network := range networks {
		if prefix, err := netip.ParsePrefix(string(network)); err == nil {
			found = append(found, prefix)
		}
	}
	return found
}
