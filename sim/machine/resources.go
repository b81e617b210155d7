// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"

	cosiresource "github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	cosistate "github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// kinds are the resources that a simulated machine shows.
func kinds() []meta.ResourceWithRD {
	return []meta.ResourceWithRD{
		&runtime.MachineStatus{}, &runtime.ExtensionStatus{}, &config.MachineConfig{}, &network.HostnameStatus{},
		&network.NodeAddress{}, &k8s.Nodename{}, &cluster.Member{}, &v1alpha1.Service{}, &runtime.Version{}, &runtime.Diagnostic{},
	}
}

// definitions are made once for all machines: finding the plural of a word takes longer than all else in a state.
var definitions = sync.OnceValue(func() []*meta.ResourceDefinition {
	var all []*meta.ResourceDefinition
	for _, kind := range kinds() {
		if made, err := meta.NewResourceDefinition(kind.ResourceDefinition()); err == nil { // Talos's own are valid
			all = append(all, made)
		}
	}
	return all
})

// newState returns the resources of a machine, with their definitions, by which talosctl finds them.
func newState() cosistate.State {
	state := cosistate.WrapCore(namespaced.NewState(inmem.Build))
	for _, definition := range definitions() {
		// The memory has room, and nothing is there yet: there is nothing that could fail.
		_ = state.Create(context.Background(), definition.DeepCopy(), cosistate.WithCreateOwner(meta.Owner))
	}
	return state
}

// sensitive keeps what holds secrets from those who may only read, and everything from being written.
func sensitive(ctx context.Context, access cosistate.Access) error {
	if !access.Verb.Readonly() {
		return status.Error(codes.PermissionDenied, "not authorized")
	}
	if access.ResourceType == config.MachineConfigType && !authz.HasRole(ctx, role.Admin) {
		return authz.ErrNotAuthorized
	}
	return nil
}

// publish shows what is true now.
func (b *boot) publish() {
	if b.api == nil {
		return
	}
	b.api.mutex.Lock()
	defer b.api.mutex.Unlock()
	if b.api.state != nil {
		b.show(b.api.state)
	}
}

// show makes a state say what is true now. Resources that are no longer true go.
func (b *boot) show(state cosistate.State) {
	ctx := context.Background()
	wanted := b.resources()
	for _, resource := range wanted {
		there, err := state.Get(ctx, resource.Metadata())
		switch {
		case err != nil:
			_ = state.Create(ctx, resource)
		case !reflect.DeepEqual(there.Spec(), resource.Spec()):
			resource.Metadata().SetVersion(there.Metadata().Version())
			_ = state.Update(ctx, resource)
		}
	}
	for _, kind := range kinds() {
		definition := kind.ResourceDefinition()
		found, err := state.List(ctx, cosiresource.NewMetadata(definition.DefaultNamespace, definition.Type, "", cosiresource.VersionUndefined))
		if err != nil {
			continue
		}
		for _, there := range found.Items {
			if !slices.ContainsFunc(wanted, func(r cosiresource.Resource) bool { return r.Metadata().Equal(*there.Metadata()) || same(r, there) }) {
				_ = state.Destroy(ctx, there.Metadata())
			}
		}
	}
}

// same says whether two resources are one at two times.
func same(a, b cosiresource.Resource) bool {
	return a.Metadata().Type() == b.Metadata().Type() && a.Metadata().ID() == b.Metadata().ID()
}

// resources are what is true of the machine.
func (b *boot) resources() []cosiresource.Resource {
	version := runtime.NewVersion()
	version.TypedSpec().Name, version.TypedSpec().Version = "Talos", b.image.Version
	all := []cosiresource.Resource{b.machineStatus(), version} // and no diagnostics: nothing is simulated that would lead to one
	for _, name := range b.image.Extensions {
		all = append(all, b.extension(name, strings.TrimPrefix(b.image.Version, "v")))
	}
	if b.image.Schematic != "" {
		all = append(all, b.extension("schematic", b.image.Schematic))
	}
	var prefixes []netip.Prefix
	for _, address := range b.options.Addresses {
		prefixes = append(prefixes, netip.PrefixFrom(address, address.BitLen()))
	}
	for _, id := range []string{network.NodeAddressDefaultID, network.NodeAddressCurrentID, network.NodeAddressRoutedID} {
		addresses := network.NewNodeAddress(network.NamespaceName, id)
		addresses.TypedSpec().Addresses = prefixes
		all = append(all, addresses)
	}
	for _, service := range b.allServices() {
		// A service has a resource while it runs: one that waits has none, which is why a machine that hangs looks ready, and one
		// that has ended has none either.
		if service.State == serviceRunning {
			running := v1alpha1.NewService(service.Name)
			running.TypedSpec().Running, running.TypedSpec().Healthy = true, true
			all = append(all, running)
		}
	}
	return append(all, b.configured()...)
}

// configured is what a machine with a configuration shows beside.
func (b *boot) configured() []cosiresource.Resource {
	provider := b.config()
	if !complete(provider) {
		return nil
	}
	hostname := network.NewHostnameStatus(network.NamespaceName, network.HostnameID)
	hostname.TypedSpec().Hostname = b.name()
	nodename := k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID)
	nodename.TypedSpec().Nodename = b.name()
	member := cluster.NewMember(cluster.NamespaceName, b.name())
	*member.TypedSpec() = cluster.MemberSpec{
		NodeID: b.begin.Identity, Addresses: b.options.Addresses, Hostname: b.name(), MachineType: provider.Machine().Type(),
		OperatingSystem: "Talos (" + b.image.Version + ")",
	}
	return []cosiresource.Resource{config.NewMachineConfig(provider), hostname, nodename, member}
}

// machineStatus is the stage, and what is missing. A service that waits is not among it, as with Talos.
func (b *boot) machineStatus() *runtime.MachineStatus {
	resource := runtime.NewMachineStatus()
	progress := b.Status()
	if stage, err := runtime.MachineStageString(progress.Stage); err == nil {
		resource.TypedSpec().Stage = stage
	}
	if progress.Stage == stageBooting || progress.Stage == stageRunning {
		if !progress.Reached(StepCNI) {
			resource.TypedSpec().Status.UnmetConditions = []runtime.UnmetCondition{{Name: "nodeReady", Reason: "node is not ready"}}
		}
		resource.TypedSpec().Status.Ready = progress.Reached(StepCNI)
	}
	return resource
}

// extension is one extension of the image.
func (b *boot) extension(name, version string) *runtime.ExtensionStatus {
	resource := runtime.NewExtensionStatus(runtime.NamespaceName, name)
	resource.TypedSpec().Metadata.Name, resource.TypedSpec().Metadata.Version = name, version
	return resource
}
