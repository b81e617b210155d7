// SPDX-License-Identifier: Apache-2.0

// Package machine looks after one TalosMachine against its place: it has the instance made, watches the steps by which the machine
// joins, does for its Node what a kubelet may not, and ends it in good order. Whatever it does can be interrupted at any point and
// is then done again.
package machine

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/machines"
)

// How often a machine is looked at that nobody reports on.
const (
	joining = 2 * time.Second
	steady  = time.Minute
)

// Patience is how long a cluster that does not answer holds a machine that is to end.
const Patience = 2 * time.Minute

// +kubebuilder:rbac:groups=minos.dev,resources=talosmachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=minos.dev,resources=talosmachines/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=minos.dev,resources=talosmachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=minos.dev,resources=locations/status;clusterlocations/status,verbs=get

// A Controller looks after TalosMachines.
type Controller struct {
	// Client writes, and reads from a cache.
	Client client.Client
	// Secrets reads Secrets, which no cache need hold.
	Secrets client.Reader
	// Tenants reaches the API servers of clusters.
	Tenants *tenant.Clients
	// Places are those that are served.
	Places Places
	// Installation tells this Minos from another that uses the same account.
	Installation string
	// Patience is how long a cluster that does not answer holds a machine that is to end; zero is [Patience].
	Patience time.Duration
	// Workers is how many machines are looked at at the same time; zero is 16.
	Workers int
	// Events tells people; nil tells nobody.
	Events events.EventRecorder
	// Metrics takes what is counted and measured; nil takes nothing.
	Metrics *metrics.Metrics
	// Now is the clock; nil is the real one.
	Now func() time.Time

	silences sync.Map // clusters that did not answer, until when they are not asked again
}

// SetupWithManager watches TalosMachines, and places: a place that is mended is noticed at once.
func (c *Controller) SetupWithManager(m manager.Manager) error {
	workers := c.Workers
	if workers == 0 {
		workers = 16
	}
	skip := true // tests start several managers in one process, and metrics are told apart by the manager
	at := func(kind api.LocationKind) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, location client.Object) []reconcile.Request {
			return c.in(ctx, kind, location)
		})
	}
	return builder.ControllerManagedBy(m).For(&api.TalosMachine{}).
		Watches(&api.Location{}, at(api.KindLocation)).Watches(&api.ClusterLocation{}, at(api.KindClusterLocation)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, SkipNameValidation: &skip}).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// in are the machines of a location.
func (c *Controller) in(ctx context.Context, kind api.LocationKind, location client.Object) []reconcile.Request {
	var all api.TalosMachineList
	if err := c.Client.List(ctx, &all, client.InNamespace(location.GetNamespace())); err != nil {
		return nil // the cache is not there yet, and then all of them come anyway
	}
	var found []reconcile.Request
	for at := range all.Items {
		if reference := all.Items[at].Spec.LocationRef; reference.Kind == kind && string(reference.Name) == location.GetName() {
			found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[at])})
		}
	}
	return found
}

// Reconcile brings one machine a step closer to its end or to its work.
func (c *Controller) Reconcile(ctx context.Context, object *api.TalosMachine) (reconcile.Result, error) {
	s, err := c.scope(ctx, object)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !object.DeletionTimestamp.IsZero() {
		return s.end(ctx)
	}
	if err := s.hold(ctx); err != nil {
		return reconcile.Result{}, err
	}
	facts, err := s.observe(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	return s.report(ctx, machines.Steps(object.Status.Conditions, facts))
}

// next is when to look again: soon while the machine joins, else rarely, and not at all machines at the same time.
func (s *scope) next(isReady bool) time.Duration {
	switch {
	case s.after > 0:
		return s.after
	case isReady:
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(s.machine.Name)) // never fails
		return steady + time.Duration(hash.Sum32()%10_000)*time.Millisecond
	}
	return joining
}

// owner is whom the instances of a cluster belong to.
func (c *Controller) owner(cluster string) backend.Owner {
	return backend.Owner{Installation: c.Installation, Cluster: cluster}
}

// now is the time.
func (c *Controller) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}
