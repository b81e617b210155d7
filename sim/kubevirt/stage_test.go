// SPDX-License-Identifier: Apache-2.0

package kubevirt_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
	"minos.dev/minos/sim/cluster"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/kubevirt"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
)

func TestMain(m *testing.M) { kubetest.MainWith(m, kubetest.Options{ClusterAPI: true}) }

// within bounds what Cluster API takes on a busy machine.
const within = 2 * time.Minute

// declared is the tenant, as a user writes it.
const declared = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.35.2
  talosVersion: v1.13.9
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here}
spec: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: here}
  replicas: 1
  machine: {sim: {}}
`

// objects are what an operator makes of it, for Cluster API: a cluster that Kamaji looks after, and three machines.
const objects = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: shop}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: KubevirtCluster, name: shop}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: StandIn, name: shop}
  controlPlaneEndpoint: {host: %[1]s, port: 6443}
---
apiVersion: controlplane.cluster.x-k8s.io/v1
kind: StandIn
metadata: {name: shop}
spec: {}
status: {initialization: {controlPlaneInitialized: true}, externalManagedControlPlane: true}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtCluster
metadata: {name: shop}
spec: {controlPlaneEndpoint: {host: %[1]s, port: 6443}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: workers}
spec:
  clusterName: shop
  replicas: 3
  selector: {matchLabels: {pool: workers}}
  template:
    metadata: {labels: {pool: workers}}
    spec:
      clusterName: shop
      version: v1.35.2
      deletion: {nodeDrainTimeoutSeconds: 5}
      bootstrap: {dataSecretName: workers-1}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: KubevirtMachineTemplate, name: workers-1}
`

// template is a machine's hardware and image.
const template = `
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtMachineTemplate
metadata: {name: %s}
spec:
  template:
    spec:
      virtualMachineBootstrapCheck: {checkStrategy: none}
      virtualMachineTemplate:
        spec:
          runStrategy: Always
          dataVolumeTemplates:
          - metadata: {name: disk-system}
            spec:
              source: {http: {url: "https://factory.talos.dev/image/%s/v1.13.9/openstack-amd64.raw.xz"}}
              storage: {resources: {requests: {storage: 20Gi}}}
          template:
            spec:
              domain: {cpu: {cores: %d}, memory: {guest: 4Gi}, devices: {}}
              volumes: [{name: system, dataVolume: {name: disk-system}}]
`

// schematic is an image without extensions.
const schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// A stage is a management cluster, a tenant, and the double between them.
type stage struct {
	t         *testing.T
	namespace string
	tenant    *kubernetes.Clientset
	keeper    *conduct.Keeper
	network   *loopback.Network
	folder    string

	double *kubevirt.Double
	rack   *machine.Rack
	stop   func()
}

// newStage brings all of it, with the tenant's secrets in the management cluster, as Kamaji leaves them.
func newStage(t *testing.T) *stage {
	t.Helper()
	kubetest.InstallModule(t, crds.KubeVirt, "")
	if err := kubetest.Install(t.Context(), kubetest.Client(t), kubetest.StandIn()); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, namespace: kubetest.Namespace(t), keeper: conduct.NewKeeper(1, 100, conduct.Behaviour{}), folder: t.TempDir()}
	var err error
	if s.network, err = loopback.Claim(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.network.Close() })
	own, err := s.network.Take("shop")
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := cluster.Open(t.Context(), cluster.Options{Folder: t.TempDir(), Address: own, Talos: "v1.13.9"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tenant.Stop(); err != nil {
			t.Error(err)
		}
	})
	if s.tenant, err = kubernetes.NewForConfig(tenant.Plane.Config()); err != nil {
		t.Fatal(err)
	}
	s.secret("shop-kubeconfig", tenant.Plane.Kubeconfig())
	s.secret("workers-1", configuration(t, tenant))
	s.secret("workers-2", configuration(t, tenant))
	s.apply(fmt.Sprintf(template, "workers-1", schematic, 2))
	s.apply(fmt.Sprintf(template, "workers-2", schematic, 4))
	s.start()
	t.Cleanup(func() { s.stop() })
	for _, object := range strings.Split(fmt.Sprintf(objects, own), "---\n") {
		s.apply(object)
	}
	return s
}

// configuration is what Minos renders for the pool.
func configuration(t *testing.T, tenant *cluster.Cluster) []byte {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := reader.Read("fleet.yaml", []byte(declared))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var all []load.Object
	for _, document := range documents {
		all = append(all, document.Object)
	}
	read, err := cluster.Read(all, "")
	if err != nil {
		t.Fatal(err)
	}
	machines, err := read.Machines(tenant, nil)
	if err != nil {
		t.Fatal(err)
	}
	return machines[0].UserData
}

// start starts the double, with a rack of its own.
func (s *stage) start() {
	s.t.Helper()
	factory := &machine.Factory{Extensions: map[string][]string{schematic: nil}}
	var err error
	if s.rack, err = machine.NewRack(machine.Environment{Scale: 100, Registry: factory}); err != nil {
		s.t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	config.QPS = -1
	s.double, err = kubevirt.New(kubevirt.Options{
		Config: config, Folder: s.folder, Rack: s.rack, Factory: factory, Keeper: s.keeper, Addresses: s.network,
		Log: func(event machine.Event) { s.t.Log(event.Machine, event.Message) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.double.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
		s.rack.Close()
	}
}

func (s *stage) secret(name string, value []byte) {
	s.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "shop"}},
		Type:       "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": value},
	}
	if err := kubetest.Client(s.t).Create(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) apply(text string) {
	s.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), object); err != nil {
		s.t.Fatal(err)
	}
	object.SetNamespace(s.namespace)
	if err := kubetest.Client(s.t).Create(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// list returns the objects of a kind.
func (s *stage) list(ctx context.Context, group, version, kind string) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind + "List"})
	err := kubetest.Client(s.t).List(ctx, found, client.InNamespace(s.namespace))
	return found.Items, err
}

// change patches the MachineDeployment.
func (s *stage) change(patch string) {
	s.t.Helper()
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"})
	deployment.SetNamespace(s.namespace)
	deployment.SetName("workers")
	if err := kubetest.Client(s.t).Patch(s.t.Context(), deployment, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}

// nodes returns the names of the tenant's Ready Nodes, and fails if there are other Nodes.
func (s *stage) nodes(ctx context.Context) ([]string, error) {
	nodes, err := s.tenant.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
				return nil, fmt.Errorf("node %s is not ready: %s", node.Name, condition.Message)
			}
		}
		if node.Spec.ProviderID != "kubevirt://"+node.Name {
			return nil, fmt.Errorf("node %s has the provider ID %q", node.Name, node.Spec.ProviderID)
		}
		names = append(names, node.Name)
	}
	return names, nil
}

// settled wants as many Nodes, each the Node of a running Machine of the given template, and nothing else anywhere.
func (s *stage) settled(ctx context.Context, count int, template string) error {
	nodes, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	machines, err := s.list(ctx, "cluster.x-k8s.io", "v1beta2", "Machine")
	if err != nil {
		return err
	}
	var running []string
	for _, machine := range machines {
		node, _, _ := unstructured.NestedString(machine.Object, "status", "nodeRef", "name")
		phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase")
		if node != "" && phase == "Running" {
			running = append(running, node)
		}
	}
	virtual, err := s.list(ctx, "infrastructure.cluster.x-k8s.io", "v1alpha1", "KubevirtMachine")
	if err != nil {
		return err
	}
	for _, machine := range virtual {
		if from := machine.GetAnnotations()["cluster.x-k8s.io/cloned-from-name"]; from != template {
			return fmt.Errorf("%s is of template %s", machine.GetName(), from)
		}
	}
	slices.Sort(running)
	if len(nodes) != count || len(machines) != count || len(virtual) != count || len(s.rack.Machines()) != count || !slices.Equal(nodes, running) {
		return fmt.Errorf("nodes %v, running %v, %d machines, %d virtual machines, %d in the rack; want %d", nodes, running, len(machines), len(virtual), len(s.rack.Machines()), count)
	}
	return nil
}

// left returns what nobody needs any more: disks, and copies of user data.
func (s *stage) left() []string {
	s.t.Helper()
	var left []string
	disks, err := os.ReadDir(s.folder)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, disk := range disks {
		left = append(left, disk.Name())
	}
	secrets := &corev1.SecretList{}
	if err := kubetest.Client(s.t).List(s.t.Context(), secrets, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	for _, secret := range secrets.Items {
		if strings.HasSuffix(secret.Name, "-userdata") {
			left = append(left, secret.Name)
		}
	}
	return left
}
