// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/apply"
	"minos.dev/minos/controller/later"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
)

// atOnce is how many clusters are looked at side by side: one whose API server is silent takes its time, and the others go on.
const atOnce = 16

// Settings are what the operator was started with.
type Settings struct {
	// SignerImage is the image of the signer for clusters that name none.
	SignerImage string
	// Management are the networks of the management cluster, which those of hosted clusters must keep clear of.
	Management []netip.Prefix
	// Every is how often a cluster is looked at when nothing happens in the management cluster. Without it: 30 seconds.
	Every time.Duration
	// Now is the clock. Without it: that of this machine.
	Now func() time.Time
	// Resolve finds the addresses of a host. Without it: this machine's own way.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// +kubebuilder:rbac:groups=minos.dev,resources=talosclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=minos.dev,resources=talosclusters/status,verbs=get;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=minos.dev,resources=talosclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=minos.dev,resources=nodepools;talosmachines,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kamajicontrolplanes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=kubevirtclusters,verbs=get;list;watch;create;patch;delete

// A Reconciler brings clusters to what they declare.
type Reconciler struct {
	// Client reads, perhaps from a cache, and writes.
	Client client.Client
	// Live reads from the API server itself, before something is made that must exist once.
	Live client.Reader
	// Tenants reach the clusters themselves.
	Tenants *tenant.Clients
	// Settings are what the operator was started with.
	Settings Settings
	// Events tells people; nil tells nobody.
	Events events.EventRecorder
	// Metrics takes what is counted and measured; nil takes nothing.
	Metrics *metrics.Metrics

	watches watches
	asked   asked
	left    left
}

// SetupWithManager has a manager run it. What it is not given it takes from the manager.
func (r *Reconciler) SetupWithManager(m manager.Manager) error {
	if r.Client == nil {
		r.Client = m.GetClient()
	}
	if r.Live == nil {
		r.Live = m.GetAPIReader()
	}
	if r.Tenants == nil {
		r.Tenants = tenant.New(r.Client)
	}
	built, err := builder.ControllerManagedBy(m).Named("taloscluster").
		For(&api.TalosCluster{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})). // its status is our own word
		Watches(&api.NodePool{}, later.Enqueue(ofPool), builder.WithPredicates(predicate.Funcs{UpdateFunc: matters})).
		Watches(&corev1.Secret{}, later.Enqueue(r.ofSecret)).
		WithOptions(controller.Options{MaxConcurrentReconciles: atOnce}).
		Build(r)
	r.watches = watches{controller: built, cache: m.GetCache()}
	return err
}

// Reconcile brings one cluster a step closer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &api.TalosCluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cluster.Spec.ControlPlane.Talos != nil {
		return reconcile.Result{}, nil // machines of its own run it
	}
	if !cluster.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(cluster, names.Finalizer) {
		return reconcile.Result{}, nil // others hold it
	}
	turn := &turn{Reconciler: r, cluster: cluster, now: r.now(), writer: apply.New(r.Client)}
	if err := turn.observe(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if !cluster.DeletionTimestamp.IsZero() && len(turn.pools) == 0 {
		return turn.remove(ctx)
	}
	if err := turn.hold(ctx); err != nil {
		return reconcile.Result{}, err
	}
	turn.run(ctx)
	turn.measure(ctx)
	return reconcile.Result{RequeueAfter: r.every()}, turn.tell(ctx)
}

// now is the time.
func (r *Reconciler) now() time.Time {
	if r.Settings.Now == nil {
		return time.Now()
	}
	return r.Settings.Now()
}

// every is how often a cluster is looked at.
func (r *Reconciler) every() time.Duration {
	if r.Settings.Every == 0 {
		return 30 * time.Second
	}
	return r.Settings.Every
}
