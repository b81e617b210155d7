// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/admission"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/sim/kubetest"
)

const within = time.Minute

// openDoor has the guard answer the package's API server.
func openDoor(t *testing.T) {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	c := kubetest.Client(t)
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := port.Addr().String()
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	door, err := admission.NewDoor(admission.Options{Client: c, Namespace: kubetest.Namespace(t), Listen: address, Now: time.Now, RefusedRules: admission.RefusedRules, Metrics: measured})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: c.Scheme(), Metrics: server.Options{BindAddress: "0"}, WebhookServer: door.Server(), Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := index.Register(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	if err := door.Open(t.Context(), mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := c.Delete(context.Background(), &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "minos"}}); err != nil {
			t.Error(err)
		}
	})
}

// fleet is a cluster, two places and two pools. The names of what belongs to no namespace are the test's own.
const fleet = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec: {kubernetesVersion: v1.35.2, talosVersion: v1.13.9, endpoint: {host: 192.0.2.1}, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here}
spec: {sim: {limits: {machines: 5}}}
---
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house-NS}
spec: {sim: {namespaces: {matchLabels: {tenant: "true"}}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: way-in}
spec: {clusterName: shop, role: gateway, locationRef: {kind: Location, name: here}, replicas: 1, machine: {sim: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec: {clusterName: shop, role: plain, locationRef: {kind: Location, name: here}, replicas: 2, machine: {sim: {}}}
`

// objectsOf reads objects for a namespace.
func objectsOf(t *testing.T, namespace, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, part := range strings.Split(strings.ReplaceAll(text, "NS", namespace), "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), object); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(object.GetKind(), "Cluster") {
			object.SetNamespace(namespace)
		}
		all = append(all, object)
	}
	return all
}

// pool is a pool with what differs.
func pool(namespace, name, change string) string {
	text := "apiVersion: minos.dev/v1alpha1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec:\n"
	for _, field := range []string{"clusterName: shop", "role: plain", "locationRef: {kind: Location, name: here}", "replicas: 1", "machine: {sim: {}}"} {
		if key, _, _ := strings.Cut(field, ":"); !strings.HasPrefix(change, key+":") {
			text += "  " + field + "\n"
		}
	}
	return strings.ReplaceAll(text+"  "+change+"\n", "NS", namespace)
}

// TestGuard is what the API server refuses with the guard at the door, each in one line that says what to do.
func TestGuard(t *testing.T) {
	openDoor(t)
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	for _, object := range objectsOf(t, namespace, fleet) {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	// The guard sees what was made as soon as its cache does.
	kubetest.Eventually(t, within, func(ctx context.Context) error {
		err := c.Delete(ctx, &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "TalosCluster shop has the pools way-in, workers: delete them first") {
			return fmt.Errorf("deleting the cluster: %v", err) //nolint:errorlint // nil is one of the answers
		}
		return nil
	})
	t.Run("pools", func(t *testing.T) { refusedPools(t, namespace) })
	t.Run("changes", func(t *testing.T) { refusedChanges(t, namespace) })
	t.Run("places", func(t *testing.T) {
		for _, place := range []client.Object{
			&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "here"}},
		} {
			if err := c.Delete(t.Context(), place); err == nil || !strings.Contains(err.Error(), "Location here has the pools way-in, workers") {
				t.Errorf("it is %v", err)
			}
		}
	})
	t.Run("what was answered is counted", wasCounted)
}

// refusedPools are pools that cannot be made.
func refusedPools(t *testing.T, namespace string) {
	c := kubetest.Client(t)
	for name, test := range map[string]struct{ change, want string }{
		"a second gateway":        {"role: gateway", "a cluster has one pool of role gateway, and NodePool way-in came first"},
		"a place of others":       {"locationRef: {kind: ClusterLocation, name: house-NS}", "is not offered to namespace"},
		"beyond the limit":        {"replicas: 4", "allows 5 machines in all, of which older pools claim 3"},
		"a protected patch":       {"config: {patches: [{machine: {token: abc}}]}", "token"},
		"a role that is not":      {"role: plian", "spec.role: "},
		"a document from later":   {"config: {patches: [{apiVersion: v1alpha1, kind: KubePrismConfig, enabled: false}]}", "KubePrismConfig"},
		"allowed":                 {"replicas: 2", ""},
		"before its cluster":      {"clusterName: later", ""},
		"before its place":        {"locationRef: {kind: Location, name: later}", ""},
		"a label of its own kind": {"config: {labels: {example.com/a: b}}", ""},
	} {
		err := c.Create(t.Context(), objectsOf(t, namespace, pool(namespace, "trial", test.change))[0], client.DryRunAll)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// refusedChanges are changes that cannot be made; what was wrong before is no reason to refuse another change.
func refusedChanges(t *testing.T, namespace string) {
	c := kubetest.Client(t)
	patch := func(kind client.Object, text string) error {
		kind.SetNamespace(namespace)
		return c.Patch(t.Context(), kind, client.RawPatch("application/merge-patch+json", []byte(text)), client.DryRunAll)
	}
	workers := func() client.Object { return &api.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "workers"}} }
	if err := patch(workers(), `{"spec":{"replicas":20}}`); err == nil || !strings.Contains(err.Error(), "allows 5 machines") {
		t.Errorf("more than there is room for: %v", err)
	}
	scaled := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 20}}
	pool := workers()
	pool.SetNamespace(namespace)
	if err := c.SubResource("scale").Update(t.Context(), pool, client.WithSubResourceBody(scaled), client.DryRunAll); err == nil || !strings.Contains(err.Error(), "allows 5 machines") {
		t.Errorf("more than there is room for, by scaling: %v", err)
	}
	scaled.Spec.Replicas = 1
	if err := c.SubResource("scale").Update(t.Context(), pool, client.WithSubResourceBody(scaled), client.DryRunAll); err != nil {
		t.Errorf("fewer, by scaling: %v", err)
	}
	if err := patch(workers(), `{"spec":{"config":{"patches":[{"cluster":{"id":"x"}}]}}}`); err == nil {
		t.Error("a protected patch was accepted")
	}
	if err := patch(&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, `{"spec":{"config":{"patches":[{"cluster":{"id":"x"}}]}}}`); err == nil || !strings.Contains(err.Error(), "could not follow") {
		t.Errorf("a protected patch of the cluster: %v", err)
	}
	// The place is made smaller than what is there; the pool can still be labelled.
	place := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "here"}}
	if err := c.Patch(t.Context(), place, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"sim":{"limits":{"machines":1}}}}`))); err != nil {
		t.Fatal(err)
	}
	kubetest.Eventually(t, within, func(context.Context) error {
		if err := patch(workers(), `{"spec":{"replicas":3}}`); err == nil {
			return fmt.Errorf("it may still grow")
		}
		return nil
	})
	if err := patch(workers(), `{"spec":{"config":{"labels":{"example.com/a":"b"}}}}`); err != nil {
		t.Errorf("what was wrong before holds another change up: %v", err)
	}
}
