// SPDX-License-Identifier: Apache-2.0

package older_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/operator"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

func TestMain(m *testing.M) { kubetest.MainWith(m, kubetest.Options{ClusterAPI: true}) }

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 5 * time.Minute

// A stage is a management cluster with everything around it, and the operator in it.
type stage struct {
	t                 *testing.T
	client            client.Client
	namespace, folder string
	config            *rest.Config
	centre            *datacentre.DataCentre
	words             *words
}

// words is what the operator says.
type words struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// Write keeps it.
func (w *words) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.Write(text)
}

// String is all of it.
func (w *words) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.String()
}

// newStage brings all of it.
func newStage(t *testing.T) *stage {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	s := &stage{t: t, client: kubetest.Client(t), namespace: kubetest.Namespace(t), folder: t.TempDir(), config: config, words: &words{}}
	s.open()
	t.Cleanup(func() { s.close() })
	log := logr.FromSlogHandler(slog.NewJSONHandler(s.words, nil))
	ctrl.SetLogger(log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- operator.Run(ctx, config, operator.Options{
			Namespace: s.namespace, Installation: "minos", SignerImage: "registry.example.com/minos-signer:v1", Metrics: "0", Health: "0", Log: log,
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(s.words.String())
		}
	})
	return s
}

// open opens the data centre, and close ends it as a power cut would: it goes on from its folder.
func (s *stage) open() {
	s.t.Helper()
	centre, err := datacentre.Open(context.Background(), datacentre.Options{
		Config: s.config, Folder: s.folder, Speed: 60, Every: 200 * time.Millisecond, Durations: machine.Durations{Deadline: 1000 * time.Hour},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.centre = centre
}

// close ends it.
func (s *stage) close() {
	s.t.Helper()
	if err := s.centre.Close(); err != nil {
		s.t.Error(err)
	}
}

// apply makes objects.
func (s *stage) apply(text string) {
	s.t.Helper()
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "NS", s.namespace), "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), object); err != nil {
			s.t.Fatal(err)
		}
		if object.GetKind() != "ClusterLocation" {
			object.SetNamespace(s.namespace)
		}
		if err := s.client.Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// eventually waits.
func (s *stage) eventually(holds func(ctx context.Context) error) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, holds)
}

// change patches the cluster.
func (s *stage) change(patch string) {
	s.t.Helper()
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "shop"}}
	if err := s.client.Patch(s.t.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}

// cluster reads the cluster.
func (s *stage) cluster(ctx context.Context) (*api.TalosCluster, error) {
	found := &api.TalosCluster{}
	return found, s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "shop"}, found)
}

// isReady wants the cluster and its pool to be ready, for what they declare now.
func (s *stage) isReady(ctx context.Context) error {
	cluster, err := s.cluster(ctx)
	if err != nil {
		return err
	}
	pool := &api.NodePool{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "workers"}, pool); err != nil {
		return err
	}
	if cluster.Status.ObservedGeneration != cluster.Generation || !meta.IsStatusConditionTrue(cluster.Status.Conditions, api.ConditionReady) ||
		!meta.IsStatusConditionTrue(pool.Status.Conditions, api.ConditionReady) {
		return fmt.Errorf("they are not ready: %+v, %+v", cluster.Status.Conditions, pool.Status.Conditions)
	}
	return nil
}

// plane reads the control plane in a version.
func (s *stage) plane(version string) *unstructured.Unstructured {
	s.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: version, Kind: "KamajiControlPlane"})
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "shop"}, found); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// machines are the identities of Cluster API's machines.
func (s *stage) machines() []string {
	s.t.Helper()
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineList"})
	if err := s.client.List(s.t.Context(), found, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, one := range found.Items {
		all = append(all, one.GetName()+" "+string(one.GetUID()))
	}
	slices.Sort(all)
	return all
}

// nodes are the identities of the tenant's Nodes.
func (s *stage) nodes() []string {
	s.t.Helper()
	found := &corev1.NodeList{}
	cluster, err := s.cluster(s.t.Context())
	if err == nil {
		var inside client.Client
		if inside, err = tenant.New(s.client).Client(s.t.Context(), cluster); err == nil {
			err = inside.List(s.t.Context(), found)
		}
	}
	if err != nil || len(found.Items) != 1 {
		s.t.Fatalf("there are %d nodes, %v", len(found.Items), err)
	}
	return []string{found.Items[0].Name + " " + string(found.Items[0].UID)}
}
