// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

func TestMain(m *testing.M) {
	becomeProgram() // where a test starts this program as the operator's
	kubetest.MainWith(m, kubetest.Options{ClusterAPI: true})
}

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 5 * time.Minute

// A stage is a management cluster with everything around it, and the operator in it.
type stage struct {
	t         *testing.T
	client    client.Client
	namespace string
	centre    *datacentre.DataCentre
	words     *words
	// kubeconfig is the operator's: it may do what its manifests say, and nothing else.
	kubeconfig string

	stop func()
}

// operatorNamespace is the operator's own, as its manifests have it.
const operatorNamespace = "minos-system"

// words is what the operator says, shown if the test fails.
type words struct {
	mutex sync.Mutex
	text  strings.Builder
}

// Write keeps it.
func (w *words) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.Write(text)
}

// newStage brings all of it.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := emptyStage(t)
	s.start()
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Log(s.words.text.String())
		}
	})
	return s
}

// emptyStage brings all but the operator.
func emptyStage(t *testing.T) *stage {
	t.Helper()
	kubetest.InstallModule(t, crds.KubeVirt, "")
	kubetest.InstallModule(t, crds.Kamaji, "")
	s := &stage{t: t, client: kubetest.Client(t), namespace: kubetest.Namespace(t), words: &words{}}
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	s.centre, err = datacentre.Open(t.Context(), datacentre.Options{
		Config: config, Folder: t.TempDir(), Speed: 60, Every: 200 * time.Millisecond, Durations: machine.Durations{Deadline: 1000 * time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.centre.Close(); err != nil {
			t.Error(err)
		}
	})
	s.install()
	return s
}

// applyManifests applies the operator's manifests.
func applyManifests(t testing.TB, c client.Client) {
	t.Helper()
	files, err := fs.Glob(charts.Operator, "minos/operator/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(charts.Operator, file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(part), object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if err := c.Patch(t.Context(), object, client.Apply, client.FieldOwner("install"), client.ForceOwnership); err != nil { //nolint:staticcheck // objects of any kind
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
}

// install gives the operator the rights that its manifests give it.
func (s *stage) install() {
	s.t.Helper()
	applyManifests(s.t, s.client)
	config, err := clientcmd.LoadFromFile(kubetest.Kubeconfig(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + operatorNamespace + ":minos-operator"
	}
	s.kubeconfig = filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, s.kubeconfig); err != nil {
		s.t.Fatal(err)
	}
}

// start starts the operator, as its program does.
func (s *stage) start() {
	s.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	webhook := free.Addr().String()
	if err := free.Close(); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{
			"--kubeconfig", s.kubeconfig, "--namespace", operatorNamespace, "--signer-image", "registry.example.com/minos-signer:test",
			"--metrics", "0", "--health", "0", "--webhook", webhook, "--webhook-service", "", "--elect=false",
			"--refused-networks", "127.0.0.1/32,169.254.0.0/16", "--sim-url", s.centre.URL,
		}, []string{"MINOS_SIM_TOKEN=" + s.centre.Token}, s.words)
	}()
	s.stop = func() {
		cancel()
		if code := <-done; code != 0 {
			s.t.Errorf("the operator ended with %d", code)
		}
		s.stop = func() {}
	}
}

// apply makes objects.
func (s *stage) apply(text string) {
	s.t.Helper()
	for _, part := range strings.Split(strings.ReplaceAll(text, "NS", s.namespace), "---\n") {
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

// change patches a pool.
func (s *stage) change(pool, patch string) {
	s.t.Helper()
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: pool}}
	if err := s.client.Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}

// eventually waits, and says what the objects say if it waits in vain.
func (s *stage) eventually(holds func(ctx context.Context) error) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, holds)
}

// clusterIs wants the cluster to be ready.
func (s *stage) clusterIs(ctx context.Context, name string) error {
	found := &api.TalosCluster{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found); err != nil {
		return err
	}
	return ready(name, found.Generation, found.Status.ObservedGeneration, found.Status.Conditions)
}

// poolIs wants a pool to be ready with so many machines, all of the newest revision.
func (s *stage) poolIs(ctx context.Context, name string, count int32) error {
	found := &api.NodePool{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found); err != nil {
		return err
	}
	if err := ready(name, found.Generation, found.Status.ObservedGeneration, found.Status.Conditions); err != nil {
		return err
	}
	status := found.Status
	for _, number := range []*int32{status.Replicas, status.ReadyReplicas, status.UpToDateReplicas} {
		if number == nil || *number != count {
			return fmt.Errorf("pool %s has not %d machines: %s", name, count, text(status))
		}
	}
	return nil
}

// text is a status in short.
func text(status api.NodePoolStatus) string {
	text, _ := yaml.Marshal(status)
	return string(text)
}

// ready wants an object to be, for what it declares now.
func ready(name string, generation, observed int64, conditions []metav1.Condition) error {
	found := meta.FindStatusCondition(conditions, api.ConditionReady)
	switch {
	case observed != generation:
		return fmt.Errorf("%s was seen at generation %d, and is at %d", name, observed, generation)
	case found == nil:
		return fmt.Errorf("%s says nothing", name)
	case found.Status != metav1.ConditionTrue:
		return fmt.Errorf("%s is not ready: %s: %s", name, found.Reason, found.Message)
	}
	return nil
}

// nodes are the names of the tenant's Ready Nodes; another Node is an error.
func (s *stage) nodes(ctx context.Context, cluster string) ([]string, error) {
	found := &api.TalosCluster{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: cluster}, found); err != nil {
		return nil, err
	}
	c, err := tenant.New(s.client).Client(ctx, found)
	if err != nil {
		return nil, err
	}
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return nil, err
	}
	var names []string
	for _, node := range nodes.Items {
		isReady := slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
		})
		if !isReady {
			return nil, fmt.Errorf("node %s is not ready", node.Name)
		}
		names = append(names, node.Name)
	}
	return names, nil
}

// gone wants an object not to exist.
func (s *stage) gone(ctx context.Context, object client.Object) error {
	err := s.client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil {
		return fmt.Errorf("%s is still there: its finalizers are %v", object.GetName(), object.GetFinalizers())
	}
	return client.IgnoreNotFound(err)
}
