// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"

	api "minos.dev/minos/api/v1alpha1"
)

// A Pool is the configuration that the machines of a pool share, with every layer but that of the one machine. It is made
// once, however many machines there are. It is not for several goroutines at once.
type Pool struct {
	input    Input
	contract *config.VersionContract
	shared   []encoded
	known    map[string][]encoded // what layers of machines led to, by what they say
}

// NewPool merges the layers of a pool.
func NewPool(in Input) (*Pool, error) {
	contract, err := Contract(in.Cluster.Spec.TalosVersion)
	if err != nil {
		return nil, err
	}
	pool := &Pool{input: in, contract: contract, known: map[string][]encoded{}}
	provider, err := pool.generate()
	if err != nil {
		return nil, fmt.Errorf("generate the configuration: %w", err)
	}
	layers, err := pool.layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		if provider, err = layer.apply(provider, contract); err != nil {
			return nil, err
		}
	}
	pool.shared, err = encodeAll(provider)
	return pool, err
}

// Shared returns the configuration of a machine that has no layer of its own, for every place but metal.
func (p *Pool) Shared() ([]byte, error) {
	return finish(p.shared, inPlace)
}

// Host returns the configuration of one machine of metal.
func (p *Pool) Host(host api.MetalHost) ([]byte, error) {
	set := newSetter(p.contract)
	if err := set.host(host, p.input.Installer); err != nil {
		return nil, fmt.Errorf("host %s: %w", host.Name, err)
	}
	own := layer{name: "host " + string(host.Name), set: set.documents()}
	if host.Config != nil {
		own.patches = host.Config.Patches
	}
	if err := own.check(p.contract); err != nil {
		return nil, err
	}
	all, err := p.over(own)
	if err != nil {
		return nil, err
	}
	text, err := finish(all, onMetal)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", host.Name, err)
	}
	return text, nil
}

// generate is the lowest layer, Talos's own: what lets the machine join.
func (p *Pool) generate() (config.Provider, error) {
	in := p.input
	network := Network(in.Cluster)
	options := []generate.Option{
		generate.WithVersionContract(p.contract),
		generate.WithSecretsBundle(in.Secrets),
		generate.WithDNSDomain(network.DNSDomain),
		generate.WithInstallImage(in.Installer),
		generate.WithSkipUnattendedInstallConfig(true), // which disk is the host's to say
	}
	if plane := in.Cluster.Spec.ControlPlane.Talos; plane != nil {
		options = append(options, generate.WithAllowSchedulingOnControlPlanes(plane.Workloads == api.WorkloadsAllowed))
	}
	version := strings.TrimPrefix(string(in.Cluster.Spec.KubernetesVersion), "v")
	input, err := generate.NewInput(in.Cluster.Name, URL(in.Endpoint), version, options...)
	if err != nil {
		return nil, err
	}
	input.PodNet, input.ServiceNet = texts(network.PodCIDRs), texts(network.ServiceCIDRs)
	if in.Role.Spec.MachineType == api.MachineControlPlane {
		return input.Config(machine.TypeControlPlane)
	}
	return input.Config(machine.TypeWorker)
}

// layers are the layers above the generated one, lowest first.
func (p *Pool) layers() ([]layer, error) {
	in := p.input
	cluster, place, role, pool := newSetter(p.contract), newSetter(p.contract), newSetter(p.contract), newSetter(p.contract)
	generated := newSetter(p.contract)
	if err := generated.accepted(in.Accepted, in.Role.Spec.MachineType == api.MachineControlPlane); err != nil {
		return nil, err
	}
	cluster.mirrors(mirrorsOf(in.Cluster.Spec.Images, in.Pool.Spec.Config))
	if in.Role.Spec.MachineType == api.MachineControlPlane {
		cluster.cni(in.Cluster.Spec.CNI)
	}
	place.network(in.Place.Network)
	if in.Place.Zone != "" {
		place.labels(map[string]string{"topology.kubernetes.io/zone": in.Place.Zone})
	}
	spec := in.Role.Spec
	if err := checkLabels("role", spec.Labels, spec.MachineType); err != nil {
		return nil, err
	}
	role.taints(spec.Taints)
	role.sysctls(spec.Sysctls)
	role.modules(spec.KernelModules)
	if err := role.services(in); err != nil {
		return nil, fmt.Errorf("role layer: %w", err)
	}
	user := in.Pool.Spec.Config
	if user == nil {
		user = &api.PoolConfig{}
	}
	if err := checkLabels("pool", user.Labels, spec.MachineType); err != nil {
		return nil, err
	}
	kubelet := labelled(in, role, pool)
	pool.taints(user.Taints)
	if err := checkKubelet(user.Kubelet, in.Capacity); err != nil {
		return nil, err
	}
	pool.kubelet(kubelet, in.Capacity)
	return []layer{
		{name: "generated", set: generated.documents()},
		{name: "cluster", set: cluster.documents(), patches: patches(in.Cluster.Spec.Config)},
		{name: "location", set: place.documents(), patches: patches(in.Place.Config)},
		{name: "role", set: role.documents(), patches: patches(spec.Config)},
		{name: "pool", set: pool.documents(), patches: user.Patches},
	}, nil
}

// patches are those of a layer that may be absent.
func patches(layer *api.Layer) []api.Patch {
	if layer == nil {
		return nil
	}
	return layer.Patches
}

// A layer is what one object adds to the configuration: what our kinds have words for, then patches.
type layer struct {
	name    string
	set     []document
	patches []api.Patch
	numbers []int // which of the patches of the whole layer these are, where it was taken apart
}

// check refuses patches that touch what is protected, and documents that the version does not know.
func (l layer) check(contract *config.VersionContract) error {
	if err := Protected(l.name, l.patches); err != nil {
		return err
	}
	return Known(l.name, l.patches, contract)
}

// apply merges a layer into a configuration, by Talos's own patcher.
func (l layer) apply(provider config.Provider, contract *config.VersionContract) (config.Provider, error) {
	if err := l.check(contract); err != nil {
		return nil, err
	}
	var loaded []configpatcher.Patch
	for i, text := range l.texts() {
		patch, err := configpatcher.LoadPatch(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.place(i), err)
		}
		loaded = append(loaded, patch)
	}
	if len(loaded) == 0 {
		return provider, nil
	}
	merged, err := configpatcher.Apply(configpatcher.WithConfig(provider), loaded)
	if err != nil {
		return nil, fmt.Errorf("%s layer: %w", l.name, err)
	}
	return merged.Config()
}

// texts are all patches of the layer. JSON is YAML, so that they can be loaded as they are.
func (l layer) texts() [][]byte {
	var all [][]byte
	for _, set := range l.set {
		text, _ := json.Marshal(set) // maps, lists and words always can be
		all = append(all, text)
	}
	for _, patch := range l.patches {
		all = append(all, patch.Raw)
	}
	return all
}

// place names a patch as its author knows it.
func (l layer) place(i int) string {
	if i < len(l.set) {
		return l.name + " layer"
	}
	number := i - len(l.set)
	if l.numbers != nil {
		number = l.numbers[number]
	}
	return fmt.Sprintf("%s layer: patches[%d]", l.name, number)
}

// A mode is how a configuration reaches its machine, in the words of Talos's validation.
type mode struct {
	name    string
	install bool
}

var (
	onMetal = mode{"metal", true}
	inPlace = mode{"cloud", false}
)

// String names the mode.
func (m mode) String() string { return m.name }

// RequiresInstall says whether Talos has to be installed to a disk first.
func (m mode) RequiresInstall() bool { return m.install }

// InContainer is never so here.
func (m mode) InContainer() bool { return false }
