// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// Options are what a double works with.
type Options struct {
	// Config reaches the management cluster, as an administrator.
	Config *rest.Config
	// Folder keeps the disks; empty means that they live as long as the program.
	Folder string
	// Rack takes the machines. It outlives the double, or is closed after it.
	Rack *machine.Rack
	// Factory knows the images.
	Factory *machine.Factory
	// Keeper is how the place behaves.
	Keeper *conduct.Keeper
	// Addresses gives every machine an address of its own. Without it, all have the loopback address and no API.
	Addresses Addresses
	// Log is told what happens to machines before they run.
	Log func(machine.Event)
}

// Addresses are given by name: the same name has the same address.
type Addresses interface {
	Take(name string) (netip.Addr, error)
	Give(name string) error
}

// A Double stands for KubeVirt.
type Double struct {
	options    Options
	client     client.Client
	hypervisor *hypervisor
	// poked are machines whose power changed, to be looked at.
	poked chan event.GenericEvent
}

// workers is how many machines are worked on at the same time.
const workers = 8

// The kinds that it works with.
var (
	machineKind     = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachine"}
	clusterKind     = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtCluster"}
	coreMachineKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	coreClusterKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}
)

// New returns a double.
func New(options Options) (*Double, error) {
	if options.Rack == nil || options.Factory == nil || options.Keeper == nil {
		return nil, errors.New("a double needs a rack, a factory and a keeper")
	}
	if options.Log == nil {
		options.Log = func(machine.Event) {}
	}
	// Objects are read from the API server itself: there are few, and what was just written must be seen.
	direct, err := client.New(options.Config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return nil, err
	}
	return &Double{
		options: options, client: direct, hypervisor: &hypervisor{options: options, dead: map[string]bool{}}, poked: make(chan event.GenericEvent, workers),
	}, nil
}

// Run watches until the context ends. Machines stay in the rack.
func (d *Double) Run(ctx context.Context) error {
	ctrl.SetLogger(logr.Discard()) // what matters is told as events
	manager, err := ctrl.NewManager(d.options.Config, ctrl.Options{
		Scheme: clientgoscheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
	})
	if err != nil {
		return err
	}
	unique := true
	settings := controller.Options{MaxConcurrentReconciles: workers, SkipNameValidation: &unique}
	err = ctrl.NewControllerManagedBy(manager).Named("kubevirtmachine").WithOptions(settings).
		For(kind(machineKind)).
		Watches(kind(coreMachineKind), handler.EnqueueRequestsFromMapFunc(infrastructureOf)).
		WatchesRawSource(source.Channel(d.poked, &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(d.reconcileMachine))
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).Named("kubevirtcluster").WithOptions(settings).
		For(kind(clusterKind)).Complete(reconcile.Func(d.reconcileCluster))
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// Kill has a machine die: it has no power, and its object says so.
func (d *Double) Kill(namespace, name string) {
	whole := nameOf(namespace, name)
	d.hypervisor.setDead(whole, true)
	if found := d.options.Rack.Machine(whole); found != nil {
		found.Kill()
	}
	d.say(whole, "the virtual machine died")
	d.poke(namespace, name)
}

// Power gives a machine power again.
func (d *Double) Power(namespace, name string) {
	whole := nameOf(namespace, name)
	d.hypervisor.setDead(whole, false)
	if found := d.options.Rack.Machine(whole); found != nil {
		found.Power()
	}
	d.say(whole, "the virtual machine has power")
	d.poke(namespace, name)
}

// poke has an object looked at.
func (d *Double) poke(namespace, name string) {
	object := kind(machineKind)
	object.SetNamespace(namespace)
	object.SetName(name)
	d.poked <- event.GenericEvent{Object: object}
}

// Machine returns the simulated machine of an object, or nil.
func (d *Double) Machine(namespace, name string) *machine.Machine {
	return d.options.Rack.Machine(nameOf(namespace, name))
}

// say logs.
func (d *Double) say(name, message string) {
	d.options.Log(machine.Event{Time: time.Now(), Machine: name, Message: message})
}

// soon is how long to wait before looking again at what nothing tells about. The real provider waits ten seconds.
func (d *Double) soon() reconcile.Result {
	return reconcile.Result{RequeueAfter: max(d.options.Keeper.Scaled(10*time.Second), 100*time.Millisecond)}
}

// kind is an empty object of a kind.
func kind(of schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(of)
	return object
}

// infrastructureOf has the KubevirtMachine of a Machine looked at.
func infrastructureOf(_ context.Context, object client.Object) []reconcile.Request {
	core, ok := object.(*unstructured.Unstructured)
	if !ok || text(core, "spec", "infrastructureRef", "kind") != machineKind.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{
		Namespace: core.GetNamespace(), Name: text(core, "spec", "infrastructureRef", "name"),
	}}}
}
