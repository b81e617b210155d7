// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"errors"
	"fmt"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// A builder is a machine in the making.
type builder struct {
	*reader
	contract *talosconfig.VersionContract
	index    int
	node     node
	fields   nodeConfigs     // the node's with those of its group
	own      map[string]bool // which of them are the node's
	config   *patch.Config
	steps    []adopt.Step
}

// checkVersion refuses what cannot be read faithfully.
func (r *reader) checkVersion() error {
	contract, err := config.Contract(r.source.Talos)
	if err != nil {
		return fmt.Errorf("%s: %q is not a Talos version", r.place.At("talosVersion"), r.source.Talos)
	}
	if contract.Greater(talosconfig.TalosVersion1_13) {
		return fmt.Errorf("%s: talhelper makes configurations up to Talos 1.13, and those of a pre-release for %s: import with the last 1.13 that the machines ran, and raise talosVersion then", r.place.At("talosVersion"), r.source.Talos)
	}
	if talosconfig.TalosVersion1_8.Greater(contract) {
		return fmt.Errorf("%s: %s is older than Talos 1.8, the oldest that can be imported", r.place.At("talosVersion"), r.source.Talos)
	}
	return nil
}

// readNode makes the configuration of a node and adds its machines.
func (r *reader) readNode(i int) error {
	one := r.config.Nodes[i]
	origin := r.place.At("nodes", itoa(i))
	if one.Hostname == "" {
		return fmt.Errorf("%s: hostname must be set", origin)
	}
	contract, err := config.Contract(r.source.Talos)
	if err != nil {
		return err
	}
	b := &builder{reader: r, contract: contract, index: i, node: one}
	group := r.config.Worker
	if one.ControlPlane {
		group = r.config.ControlPlane
	}
	b.fields, b.own = one.over(group)
	b.forFilesOnly()
	if err := b.build(); err != nil {
		return err
	}
	addresses, err := r.addresses(i)
	if err != nil {
		return err
	}
	for n, address := range addresses {
		name := one.Hostname
		if len(addresses) > 1 {
			name = fmt.Sprintf("%s-%d", one.Hostname, n+1)
		}
		r.source.Machines = append(r.source.Machines, &adopt.Machine{
			Name: name, Address: address, ControlPlane: one.ControlPlane, Architecture: b.architecture(),
			Steps: b.steps, Config: b.config, Origin: origin,
		})
	}
	return adopt.TooMany(len(r.source.Machines))
}

// forFilesOnly names fields that say nothing of machine configurations.
func (b *builder) forFilesOnly() {
	if b.fields.ImageSchematic.isSet {
		b.source.Leave(b.origin("imageSchematic"), "is for boot media alone: Minos makes them from the role")
	}
	spec, factory := b.fields.MachineSpec, b.reader.config.ImageFactory
	for _, one := range []struct {
		origin adopt.Origin
		isSet  bool
	}{
		{b.origin("filenameTmpl"), b.fields.FilenameTmpl != ""},
		{b.origin("machineSpec"), spec.BootMethod+spec.ImageSuffix != ""},
		{b.place.At("imageFactory"), factory.SchematicEndpoint+factory.ISOURLTmpl != ""},
	} {
		if one.isSet {
			b.source.Note(one.origin, "what it says of files and boot media is not needed")
		}
	}
}

// architecture is that of the machine.
func (b *builder) architecture() api.Architecture {
	if b.fields.MachineSpec.Arch == string(api.ARM64) {
		return api.ARM64
	}
	return api.AMD64
}

// origin is where a field of the node stands: with the node, or with its group.
func (b *builder) origin(field string) adopt.Origin {
	if b.own[field] {
		return b.place.At("nodes", itoa(b.index), field)
	}
	return b.place.At(b.group(), field)
}

func (b *builder) group() string {
	if b.node.ControlPlane {
		return "controlPlane"
	}
	return "worker"
}

// build goes through all that talhelper does, in its order.
func (b *builder) build() error {
	for _, phase := range []func() error{
		b.generate, b.certSANs, b.oldNetwork, b.disks, b.settings, b.image, b.templates, b.cluster, b.documents, b.patches, b.extraDocuments,
	} {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

// generate is what Talos makes itself.
func (b *builder) generate() error {
	base, err := b.generated(nil, nil)
	b.config = base
	return err
}

// generated asks Talos, with further names for certificates.
func (b *builder) generated(apiServer, machines []string) (*patch.Config, error) {
	c := b.reader.config
	options := []generate.Option{
		generate.WithVersionContract(b.contract),
		generate.WithSecretsBundle(b.source.Bundle),
		generate.WithInstallImage("ghcr.io/siderolabs/installer:" + c.TalosVersion),
		generate.WithAllowSchedulingOnControlPlanes(c.AllowSchedulingOnMasters || c.AllowSchedulingOnControlPlanes),
	}
	if c.Domain != "" {
		options = append(options, generate.WithDNSDomain(c.Domain))
	}
	input, err := generate.NewInput(c.ClusterName, c.Endpoint, string(b.source.Kubernetes[1:]), options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.place.File, err)
	}
	input.PodNet, input.ServiceNet = []string{constants.DefaultIPv4PodCIDR}, []string{constants.DefaultIPv4ServiceCIDR}
	if len(c.ClusterPodNets) > 0 {
		input.PodNet = c.ClusterPodNets
	}
	if len(c.ClusterSvcNets) > 0 {
		input.ServiceNet = c.ClusterSvcNets
	}
	input.AdditionalSubjectAltNames, input.AdditionalMachineCertSANs = apiServer, machines
	kind := machine.TypeWorker
	if b.node.ControlPlane {
		kind = machine.TypeControlPlane
	}
	provider, err := input.Config(kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.place.File, err)
	}
	return patch.Of(provider)
}

// become makes a configuration the machine's, and what changed a step.
func (b *builder) become(after *patch.Config, origin adopt.Origin) {
	if b.config.Equal(after) {
		return
	}
	documents, err := patch.Diff(b.config, after)
	b.config = after
	if err != nil {
		b.source.Leave(origin, err.Error())
		return
	}
	b.steps = append(b.steps, stepOf(origin, documents))
}

// stepOf is a step that consists of documents.
func stepOf(origin adopt.Origin, documents []patch.Document) adopt.Step {
	step := adopt.Step{Origin: origin, Scope: scopeOf(origin)}
	for _, fields := range documents {
		step.Patches = append(step.Patches, adopt.Patch{Fields: fields})
	}
	return step
}

// scopeOf is of how many machines a field of talconfig speaks.
func scopeOf(origin adopt.Origin) adopt.Scope {
	switch {
	case strings.HasPrefix(origin.Field, "nodes["):
		return adopt.ScopeMachine
	case strings.HasPrefix(origin.Field, "controlPlane."), strings.HasPrefix(origin.Field, "worker."), origin.Field == "additionalApiServerCertSans":
		return adopt.ScopeGroup
	}
	return adopt.ScopeCluster
}

// set puts a value into the one old document, in place of what stands there.
func (b *builder) set(origin adopt.Origin, value any, path ...string) error {
	documents := b.config.Documents()
	for _, fields := range documents {
		if patch.ID(fields) == "v1alpha1" {
			patch.Set(fields, value, path...)
		}
	}
	after, err := patch.From(documents)
	if err != nil {
		return fmt.Errorf("%s: %w", origin, short(err))
	}
	b.become(after, origin)
	return nil
}

// merge lays documents over the configuration.
func (b *builder) merge(origin adopt.Origin, documents ...patch.Document) error {
	after, err := b.config.Merge(documents...)
	if err != nil {
		return fmt.Errorf("%s: %w", origin, short(err))
	}
	b.config = after
	b.steps = append(b.steps, stepOf(origin, documents))
	return nil
}

// short is an error of Talos's libraries in one line.
func short(err error) error { return errors.New(reason(err)) }
