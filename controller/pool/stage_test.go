// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/direct"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/cluster"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/kubevirt"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

func TestMain(m *testing.M) { kubetest.MainWith(m, kubetest.Options{ClusterAPI: true}) }

// within bounds what Cluster API takes on a busy machine.
const within = 90 * time.Second

// releases of the tenant.
const (
	talosVersion      = "v1.13.9"
	kubernetesVersion = "v1.35.2"
)

// The cluster, as a user writes it.
const declaredCluster = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.35.2
  talosVersion: v1.13.9
  controlPlane: {kamaji: {}}
  rollout: {drainTimeoutSeconds: 5}
`

// The place.
const declaredLocation = `
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here}
spec: {kubevirt: {}}
`

// The pool.
const declaredPool = `
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: here}
  replicas: 2
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
`

// What the cluster's controller makes for Cluster API.
const clusterObjects = `
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtCluster
metadata: {name: shop}
spec: {controlPlaneEndpoint: {host: %[1]s, port: 6443}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1
kind: StandIn
metadata: {name: shop}
spec: {}
status: {initialization: {controlPlaneInitialized: true}, externalManagedControlPlane: true}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: shop}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: KubevirtCluster, name: shop}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: StandIn, name: shop}
  controlPlaneEndpoint: {host: %[1]s, port: 6443}
`

// A stage is a management cluster with the reconciler under test, a tenant, and the double of KubeVirt between them.
type stage struct {
	t          *testing.T
	namespace  string
	folder     string // the tenant's
	plane      *cluster.Cluster
	stopped    bool
	tenant     *kubernetes.Clientset
	keeper     *conduct.Keeper
	network    *loopback.Network
	own        string // the tenant's address
	rack       *machine.Rack
	double     *kubevirt.Double
	reconciler *pool.Reconciler
	wrote      sync.Map // what was written, by the order of writing
	writes     atomic.Int64
}

// newQuiet is a stage without a tenant and without machines.
func newQuiet(t *testing.T) *stage {
	t.Helper()
	kubetest.InstallModule(t, crds.KubeVirt, "")
	if err := kubetest.Install(t.Context(), kubetest.Client(t), kubetest.StandIn()); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, namespace: kubetest.Namespace(t), keeper: conduct.NewKeeper(1, 100, conduct.Behaviour{}), folder: t.TempDir()}
	s.startReconciler()
	return s
}

// newStage brings all of it, without the cluster's objects.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := newQuiet(t)
	var err error
	if s.network, err = loopback.Claim(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.network.Close() })
	s.openTenant()
	s.startDouble()
	return s
}

// openTenant starts the cluster that machines join.
func (s *stage) openTenant() {
	s.t.Helper()
	own, err := s.network.Take("shop")
	if err != nil {
		s.t.Fatal(err)
	}
	s.own = own.String()
	if s.plane, err = cluster.Open(s.t.Context(), cluster.Options{Folder: s.folder, Address: own, Talos: talosVersion}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if s.stopped {
			return
		}
		if err := s.plane.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	if s.tenant, err = kubernetes.NewForConfig(s.plane.Plane.Config()); err != nil {
		s.t.Fatal(err)
	}
}

// config reaches the management cluster.
func (s *stage) config() *rest.Config {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// run runs something until the test ends.
func (s *stage) run(what func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- what(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
}

// startDouble starts the double of KubeVirt, with machines that know the image of the role.
func (s *stage) startDouble() {
	s.t.Helper()
	factory := &machine.Factory{Extensions: map[string][]string{schematicOf(s.t, "plain"): nil}}
	var err error
	if s.rack, err = machine.NewRack(machine.Environment{Scale: 100, Registry: factory}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.rack.Close)
	s.double, err = kubevirt.New(kubevirt.Options{
		Config: s.config(), Folder: s.t.TempDir(), Rack: s.rack, Factory: factory, Keeper: s.keeper, Addresses: s.network,
		Log: func(event machine.Event) { s.t.Log(event.Machine, event.Message) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.run(s.double.Run)
}

// schematicOf is the image of a built-in role.
func schematicOf(t *testing.T, name api.Name) string {
	t.Helper()
	roles, err := talos.NewRoles()
	if err != nil {
		t.Fatal(err)
	}
	role, err := roles.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	found, err := image.For(role, image.Image{Version: talosVersion, Platform: "openstack", Architecture: api.AMD64})
	if err != nil {
		t.Fatal(err)
	}
	return found.Schematic
}

// startReconciler starts what is tested, with a client that counts writes.
func (s *stage) startReconciler() {
	s.t.Helper()
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(s.config(), ctrl.Options{
		Scheme: kubetest.Client(s.t).Scheme(), Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Client:    client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		NewClient: s.counting,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := index.Register(s.t.Context(), manager.GetFieldIndexer()); err != nil {
		s.t.Fatal(err)
	}
	s.reconciler = &pool.Reconciler{
		Client: manager.GetClient(), Tenants: tenant.New(manager.GetClient()), Events: manager.GetEventRecorder("minos"), Metrics: measured,
		Direct: &direct.Machines{Client: manager.GetClient(), Truth: manager.GetAPIReader()},
	}
	if err := s.reconciler.SetupWithManager(manager); err != nil {
		s.t.Fatal(err)
	}
	s.run(manager.Start)
}
