// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/apply"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
)

// +kubebuilder:rbac:groups=minos.dev,resources=nodepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=minos.dev,resources=nodepools/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=minos.dev,resources=nodepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=minos.dev,resources=talosclusters;noderoles;locations;clusterlocations;talosmachines,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedeployments;machinehealthchecks,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinesets;machines,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=kubevirtmachinetemplates,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=kubevirtmachines,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=bootstrap.cluster.x-k8s.io,resources=talosconfigtemplates,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=instancetype.kubevirt.io,resources=virtualmachineclusterinstancetypes,verbs=get;list;watch

// A Reconciler brings pools to what they declare.
type Reconciler struct {
	// Client reads and writes the management cluster. What it reads may come from a cache.
	Client client.Client
	// Secrets reads Secrets; nil means by the client.
	Secrets client.Reader
	// Direct looks after machines that Cluster API does not serve; nil means that there are none.
	Direct Direct
	// Tenants reaches the clusters. It is asked only whether machines that are being deleted can still be drained; nil means yes.
	Tenants *tenant.Clients
	// Events takes what happens; nil means nobody.
	Events events.EventRecorder
	// Metrics takes what is counted and measured; nil means nobody.
	Metrics *metrics.Metrics
	// Now is the clock; nil means the real one.
	Now func() time.Time

	writer   *apply.Writer
	watching watching
	uses     uses
	noticed  noticed
	begin    sync.Once
}

// start fills in what was left out.
func (r *Reconciler) start() {
	r.begin.Do(func() {
		r.writer = apply.New(r.Client)
		if r.Secrets == nil {
			r.Secrets = r.Client
		}
		if r.Now == nil {
			r.Now = time.Now
		}
	})
}

// Reconcile brings one pool a step closer to what it declares.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (reconcile.Result, error) {
	r.start()
	pool := &api.NodePool{}
	if err := r.Client.Get(ctx, request.NamespacedName, pool); err != nil {
		if apierrors.IsNotFound(err) {
			r.uses.forget(request.NamespacedName)
			r.Metrics.ForgetPool(request.NamespacedName)
			r.noticed.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !pool.DeletionTimestamp.IsZero() {
		return r.remove(ctx, pool)
	}
	if !controllerutil.ContainsFinalizer(pool, names.Finalizer) {
		before := pool.DeepCopy()
		controllerutil.AddFinalizer(pool, names.Finalizer)
		if err := r.Client.Patch(ctx, pool, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	now := &turn{Reconciler: r, pool: pool}
	err := now.walk(ctx)
	r.uses.set(client.ObjectKeyFromObject(pool), now.read)
	return now.report(ctx, err)
}

// uses remembers which Secrets a pool was made with, or waits for, so that it is looked at when one of them changes. After a
// restart every pool is looked at anyway.
type uses struct {
	mutex sync.Mutex
	by    map[types.NamespacedName][]types.NamespacedName // pools by Secret
	of    map[types.NamespacedName][]types.NamespacedName // Secrets by pool
}

// set says what a pool uses.
func (u *uses) set(pool types.NamespacedName, secrets []types.NamespacedName) {
	u.forget(pool)
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.by == nil {
		u.by, u.of = map[types.NamespacedName][]types.NamespacedName{}, map[types.NamespacedName][]types.NamespacedName{}
	}
	u.of[pool] = secrets
	for _, secret := range secrets {
		u.by[secret] = append(u.by[secret], pool)
	}
}

// forget drops what a pool uses.
func (u *uses) forget(pool types.NamespacedName) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, secret := range u.of[pool] {
		var others []types.NamespacedName
		for _, other := range u.by[secret] {
			if other != pool {
				others = append(others, other)
			}
		}
		if u.by[secret] = others; len(others) == 0 {
			delete(u.by, secret)
		}
	}
	delete(u.of, pool)
}

// who says which pools use a Secret.
func (u *uses) who(secret types.NamespacedName) []types.NamespacedName {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return append([]types.NamespacedName(nil), u.by[secret]...)
}
