// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
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
	reconciler *pool.Reconciler
	wrote      sync.Map // what was written, by the order of writing
	writes     atomic.Int64
}

// newQuiet is a stage without a tenant and without machines.
func newQuiet(t *testing.T) *stage {
	t.Helper()
	kubetest.InstallModule(t, crds.KubeVirt, "")
	if err := kubetest.Install(t.Context(), kubetest.Client(t), standIn()); err != nil {
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

// standIn is the definition of a control plane that does nothing, as Cluster API wants one.
func standIn() *apiextensionsv1.CustomResourceDefinition {
	open := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "standins.controlplane.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "controlplane.cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "standins", Singular: "standin", Kind: "StandIn", ListKind: "StandInList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}},
			}},
		},
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
	double, err := kubevirt.New(kubevirt.Options{
		Config: s.config(), Folder: s.t.TempDir(), Rack: s.rack, Factory: factory, Keeper: s.keeper, Addresses: s.network,
		Log: func(event machine.Event) { s.t.Log(event.Machine, event.Message) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.run(double.Run)
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
		Client: manager.GetClient(), Tenants: tenant.New(manager.GetClient()), Events: manager.GetEventRecorder("minos"),
	}
	if err := s.reconciler.SetupWithManager(manager); err != nil {
		s.t.Fatal(err)
	}
	s.run(manager.Start)
}

// counting is a client that counts what is written.
func (s *stage) counting(config *rest.Config, options client.Options) (client.Client, error) {
	plain, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(plain, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			s.note("create", object)
			return c.Create(ctx, object, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			s.note("delete", object)
			return c.Delete(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			s.note("patch", object)
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			s.note("apply", object)
			return c.Apply(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			s.note("patch the status of", object)
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}), nil
}

// note notes something that is written.
func (s *stage) note(verb string, what any) {
	text, err := yaml.Marshal(what)
	if err != nil {
		s.t.Error(err)
	}
	s.wrote.Store(s.writes.Add(1), verb+" "+string(text))
}

// apply makes objects, each in its own document.
func (s *stage) apply(text string) {
	s.t.Helper()
	for _, document := range strings.Split(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), object); err != nil {
			s.t.Fatal(err)
		}
		object.SetNamespace(s.namespace)
		if err := kubetest.Client(s.t).Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// secret makes a Secret of the cluster.
func (s *stage) secret(name, key string, value []byte) {
	s.t.Helper()
	secret := &corev1.Secret{
		// Cluster API sees Secrets with its label only.
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Labels: map[string]string{names.LabelClusterAPI: "shop"}},
		Type:       "cluster.x-k8s.io/secret", Data: map[string][]byte{key: value},
	}
	if err := kubetest.Client(s.t).Create(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
}

// openCluster makes what the cluster's controller makes: its secrets, its objects for Cluster API, and a status that is ready.
func (s *stage) openCluster() {
	s.t.Helper()
	s.apply(declaredCluster)
	found := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	identity, err := s.plane.Secrets.Marshal()
	if err != nil {
		s.t.Fatal(err)
	}
	s.secret(names.Identity(found), names.IdentityKey, identity)
	s.secret(names.KubernetesCA(found), corev1.TLSCertKey, s.plane.Secrets.Bundle.Certs.K8s.Crt)
	s.secret(names.Kubeconfig(found), "value", s.plane.Plane.Kubeconfig())
	s.apply(fmt.Sprintf(clusterObjects, s.own))
	s.ready()
}

// ready writes the cluster's status.
func (s *stage) ready() {
	s.t.Helper()
	found := &api.TalosCluster{}
	c := kubetest.Client(s.t)
	if err := c.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "shop"}, found); err != nil {
		s.t.Fatal(err)
	}
	found.Status.Endpoint = &api.Endpoint{Host: s.own, Port: 6443}
	found.Status.KubernetesVersion = kubernetesVersion
	found.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: api.ReasonReady, LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(s.t.Context(), found); err != nil {
		s.t.Fatal(err)
	}
}

// activate makes the tokens of a pool known to the cluster, as its controller does.
func (s *stage) activate(name string) {
	s.t.Helper()
	c, secret := kubetest.Client(s.t), &corev1.Secret{}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name + "-join"}, secret)
	})
	file := filepath.Join(s.folder, "signer", "tokens", name)
	if err := os.WriteFile(file, secret.Data[names.JoinToken], 0o600); err != nil {
		s.t.Fatal(err)
	}
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	id, rest, _ := strings.Cut(string(secret.Data[names.JoinBootstrap]), ".")
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": rest, "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"expiration": until, "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}
	if _, err := s.tenant.CoreV1().Secrets(metav1.NamespaceSystem).Create(s.t.Context(), token, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	before := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, names.AnnotationActiveUntil, until)
	if err := c.Patch(s.t.Context(), secret, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

// coreKind is a kind of Kubernetes's own.
func coreKind(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

// get reads a pool.
func (s *stage) get(ctx context.Context, name string) (*api.NodePool, error) {
	found := &api.NodePool{}
	return found, kubetest.Client(s.t).Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found)
}

// patch changes the pool.
func (s *stage) patch(text string) {
	s.t.Helper()
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "workers"}}
	if err := kubetest.Client(s.t).Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		s.t.Fatal(err)
	}
}

// list returns the objects of a kind.
func (s *stage) list(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := kubetest.Client(s.t).List(ctx, found, client.InNamespace(s.namespace))
	return found.Items, err
}

// again looks at a pool once more, and says what that wrote.
func (s *stage) again(name string) (wrote []any) {
	s.t.Helper()
	before := s.writes.Load()
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: name}}
	if _, err := s.reconciler.Reconcile(s.t.Context(), request); err != nil {
		s.t.Fatal(err)
	}
	for at := before + 1; at <= s.writes.Load(); at++ {
		what, _ := s.wrote.Load(at)
		wrote = append(wrote, what)
	}
	return wrote
}
