// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/controller/later"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
)

// workers is how many pools are looked at at the same time.
const workers = 8

// SetupWithManager has pools looked at whenever something changes that they depend on. The manager's cache must have the indexes of
// controller/index.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	r.start()
	definitions := &metav1.PartialObjectMetadata{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	unique := true
	made, err := ctrl.NewControllerManagedBy(manager).Named("nodepool").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, SkipNameValidation: &unique}).
		For(&api.NodePool{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: silenced}))).
		Watches(&api.NodePool{}, handler.EnqueueRequestsFromMapFunc(r.siblings), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, gaveUp))).
		Watches(&api.TalosCluster{}, handler.EnqueueRequestsFromMapFunc(r.ofCluster), builder.WithPredicates(predicate.Funcs{UpdateFunc: matters})).
		Watches(&api.NodeRole{}, handler.EnqueueRequestsFromMapFunc(r.everyPool), changed).
		Watches(&api.Location{}, handler.EnqueueRequestsFromMapFunc(r.ofLocation)).
		Watches(&api.ClusterLocation{}, handler.EnqueueRequestsFromMapFunc(r.ofLocation)).
		Watches(&api.TalosMachine{}, later.Enqueue(labelled)).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		// Whole Secrets, and not their metadata only: what is read must not be older than what was told of.
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.ofSecret)).
		Watches(definitions, handler.EnqueueRequestsFromMapFunc(r.ofDefinition)).
		Build(r)
	if err != nil {
		return fmt.Errorf("watch the pools: %w", err)
	}
	r.watching.begin(made, manager.GetCache(), manager.GetAPIReader())
	return nil
}

// watching is which kinds of others are watched. They are watched from when they are served.
type watching struct {
	mutex   sync.Mutex
	kinds   map[schema.GroupVersionKind]bool
	absent  map[schema.GroupVersionKind]time.Time // when kinds were asked for in vain
	control controller.Controller
	cache   cache.Cache
	direct  client.Reader
}

// begin says by whom.
func (w *watching) begin(by controller.Controller, cached cache.Cache, direct client.Reader) {
	w.control, w.cache, w.direct = by, cached, direct
}

// ensure watches kinds, each change of which is told, and says which are not served, with who brings them.
func (w *watching) ensure(with client.Client, kinds map[schema.GroupVersionKind]string, told handler.MapFunc) (missing []string, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.kinds == nil {
		w.kinds, w.absent = map[schema.GroupVersionKind]bool{}, map[schema.GroupVersionKind]time.Time{}
	}
	for kind, from := range kinds {
		if w.kinds[kind] {
			continue
		}
		err := w.served(with, kind)
		if meta.IsNoMatchError(err) {
			missing = append(missing, fmt.Sprintf("%s (%s, of %s)", kind.Kind, kind.GroupVersion(), from))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ask whether %s is served: %w", kind.Kind, err)
		}
		if w.control != nil {
			if err := w.control.Watch(source.Kind[client.Object](w.cache, empty(kind), later.Enqueue(told))); err != nil {
				return nil, fmt.Errorf("watch %s: %w", kind.Kind, err)
			}
		}
		w.kinds[kind] = true
	}
	slices.Sort(missing)
	return missing, nil
}

// served asks whether a kind is served. One that is not is asked for again when definitions change, or after a while: every pool
// that could use it would ask the API server each time.
func (w *watching) served(with client.Client, kind schema.GroupVersionKind) error {
	if asked, before := w.absent[kind]; before && w.control != nil && time.Since(asked) < again {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	_, err := with.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		w.absent[kind] = time.Now()
	}
	return err
}

// changed forgets which kinds are not served.
func (w *watching) changed() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	clear(w.absent)
}

// labelled has the pool looked at whose label an object has.
func labelled(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[names.LabelPool]
	if machine, ok := object.(*api.TalosMachine); ok {
		name = cmp.Or(string(machine.Spec.PoolName), name)
	}
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// requests are those of the pools that a list finds, but for one.
func (r *Reconciler) requests(ctx context.Context, but client.Object, options ...client.ListOption) []reconcile.Request {
	pools := &api.NodePoolList{}
	if err := r.Client.List(ctx, pools, options...); err != nil {
		if !errors.Is(err, context.Canceled) {
			ctrl.LoggerFrom(ctx).Error(err, "list pools")
		}
		return nil
	}
	var all []reconcile.Request
	for at := range pools.Items {
		key := client.ObjectKeyFromObject(&pools.Items[at])
		if but == nil || key != client.ObjectKeyFromObject(but) {
			all = append(all, reconcile.Request{NamespacedName: key})
		}
	}
	return all
}

// siblings has the other pools looked at of a pool's cluster and place: what one has, another may not.
func (r *Reconciler) siblings(ctx context.Context, object client.Object) []reconcile.Request {
	pool, ok := object.(*api.NodePool)
	if !ok {
		return nil
	}
	found := r.requests(ctx, pool, client.InNamespace(pool.Namespace), client.MatchingFields{index.Cluster: string(pool.Spec.ClusterName)})
	if !r.shared(ctx, pool) {
		return found
	}
	return append(found, r.requests(ctx, pool, client.MatchingFields{index.Location: index.Of(pool)})...)
}

// shared says whether the place of a pool is one in which pools take from each other. One that cannot be read may be.
func (r *Reconciler) shared(ctx context.Context, pool *api.NodePool) bool {
	spec, _, err := r.place(ctx, pool)
	return err != nil || plan.IsShared(spec)
}

// silenced says whether somebody else took away what a pool says: it would say nothing until something else happens.
func silenced(change event.UpdateEvent) bool {
	before, was := change.ObjectOld.(*api.NodePool)
	after, is := change.ObjectNew.(*api.NodePool)
	return was && is && meta.FindStatusCondition(before.Status.Conditions, api.ConditionReady) != nil && meta.FindStatusCondition(after.Status.Conditions, api.ConditionReady) == nil
}

// matters says whether pools look otherwise at a cluster because of what changed of it. What it says of its pools is their own word.
func matters(change event.UpdateEvent) bool {
	before, was := change.ObjectOld.(*api.TalosCluster)
	after, is := change.ObjectNew.(*api.TalosCluster)
	if !was || !is {
		return true
	}
	return before.UID != after.UID || before.Generation != after.Generation || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(ofItself(before), ofItself(after))
}

// ofItself is what a cluster says but for what it says of pools.
func ofItself(cluster *api.TalosCluster) *api.TalosClusterStatus {
	status := cluster.Status.DeepCopy()
	status.Pools, status.Machines, status.ReadyMachines = nil, nil, nil
	meta.RemoveStatusCondition(&status.Conditions, api.ConditionPoolsReady)
	return status
}

// ofCluster has the pools of a cluster looked at.
func (r *Reconciler) ofCluster(ctx context.Context, object client.Object) []reconcile.Request {
	return r.requests(ctx, nil, client.InNamespace(object.GetNamespace()), client.MatchingFields{index.Cluster: object.GetName()})
}

// ofLocation has the pools of a place looked at.
func (r *Reconciler) ofLocation(ctx context.Context, object client.Object) []reconcile.Request {
	kind := api.KindClusterLocation
	if _, own := object.(*api.Location); own {
		kind = api.KindLocation
	}
	return r.requests(ctx, nil, client.MatchingFields{index.Location: index.Place(kind, object.GetNamespace(), object.GetName())})
}

// ofNamespace has the pools of a namespace looked at.
func (r *Reconciler) ofNamespace(ctx context.Context, object client.Object) []reconcile.Request {
	return r.requests(ctx, nil, client.InNamespace(object.GetName()))
}

// everyPool has all of them looked at.
func (r *Reconciler) everyPool(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx, nil)
}

// ofSecret has the pools looked at that a Secret belongs to, or that use it.
func (r *Reconciler) ofSecret(ctx context.Context, object client.Object) []reconcile.Request {
	found := labelled(ctx, object)
	for _, pool := range r.uses.who(client.ObjectKeyFromObject(object)) {
		found = append(found, reconcile.Request{NamespacedName: pool})
	}
	return found
}

// ofDefinition has all pools looked at when kinds come or go that pools are made of.
func (r *Reconciler) ofDefinition(ctx context.Context, object client.Object) []reconcile.Request {
	r.watching.changed()
	for _, group := range []string{".cluster.x-k8s.io", ".infrastructure.cluster.x-k8s.io", ".bootstrap.cluster.x-k8s.io", ".instancetype.kubevirt.io"} {
		if strings.HasSuffix(object.GetName(), group) {
			return r.requests(ctx, nil)
		}
	}
	return nil
}
