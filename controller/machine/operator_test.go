// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/direct"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/nodes"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/controller/tenant"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/sim/kubetest"
)

// config reaches the management cluster.
func (w *world) config() *rest.Config {
	w.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	config.QPS, config.Burst = 200, 400
	return config
}

// run starts an operator, which kill ends.
func (w *world) run() {
	w.t.Helper()
	m, err := manager.New(w.config(), manager.Options{
		Scheme: w.client.Scheme(), Metrics: server.Options{BindAddress: "0"}, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		GracefulShutdownTimeout: new(10 * time.Second),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	places := machine.Places{api.MemberSim: func(context.Context, machine.Location) (backend.Place, error) { return w.place, nil }}
	tenants := tenant.New(m.GetAPIReader())
	one := &machine.Controller{
		Client: m.GetClient(), Secrets: m.GetAPIReader(), Tenants: tenants, Places: places, Installation: "test", Patience: w.options.patience, Now: w.now,
		Events: m.GetEventRecorder("minos"), Metrics: w.measures,
	}
	left := &nodes.Controller{
		Client: m.GetClient(), Truth: m.GetAPIReader(), Tenants: tenants, Places: places, Installation: "test", Interval: 300 * time.Millisecond,
		Grace: w.options.grace, ReportOnly: w.options.reportOnly, Events: m.GetEventRecorder("minos"), Metrics: w.measures,
	}
	all := &pools{world: w, machines: &direct.Machines{
		Client: m.GetClient(), Truth: m.GetAPIReader(), Events: m.GetEventRecorder("minos"), Metrics: w.measures, Now: w.now,
	}}
	err = errors.Join(one.SetupWithManager(m), all.setup(m))
	if !w.options.withoutNodes {
		err = errors.Join(err, left.SetupWithManager(m))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	w.kill = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
		w.kill = func() {}
	}
}

// pools stands for the controller of pools.
type pools struct {
	world    *world
	machines pool.Direct
}

// setup looks at pools, and at them again when their machines change.
func (p *pools) setup(m manager.Manager) error {
	skip := true
	return builder.ControllerManagedBy(m).Named("pools").For(&api.NodePool{}).Owns(&api.TalosMachine{}).
		WithOptions(controller.Options{SkipNameValidation: &skip}).Complete(reconcile.AsReconciler(m.GetClient(), p))
}

// Reconcile does what the controller of pools does.
func (p *pools) Reconcile(ctx context.Context, object *api.NodePool) (reconcile.Result, error) {
	w := p.world
	w.mutex.Lock()
	wanted := pool.Wanted{
		Cluster: w.cluster, Pool: object, Replicas: *object.Spec.Replicas, Revision: w.revision, Rolls: w.rolls, Image: w.image, Services: w.options.services,
		Budget: plan.Budget{Surge: intstr.FromInt(w.options.surge), Unavailable: intstr.FromInt(w.options.unavailable)},
	}
	w.mutex.Unlock()
	_, err := p.machines.Reconcile(ctx, wanted)
	return reconcile.Result{RequeueAfter: 200 * time.Millisecond}, err
}
