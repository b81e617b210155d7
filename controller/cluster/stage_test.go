// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/cluster"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(ctrllog.Log.WithSink(ctrllog.NullLogSink{})) // or it would complain that nobody did
	kubetest.MainWith(m, kubetest.Options{ClusterAPI: true})
}

// A clock runs as others do, and can be put forward.
type clock struct {
	mutex sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(by time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ahead += by
}

// settings are those of the operator in tests: it looks more often.
func settings(c *clock) cluster.Settings {
	return cluster.Settings{SignerImage: "registry.example.com/minos-signer:v1", Every: time.Second, Now: c.now}
}

// scheme knows all kinds that the operator needs.
func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	made := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme} {
		if err := add(made); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// management leads to the management cluster.
func management(t testing.TB) *rest.Config {
	t.Helper()
	found, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	found.QPS = -1
	found.WarningHandler = rest.NoWarnings{}
	return found
}

// operate runs an operator until it is stopped.
func operate(t testing.TB, c *clock) (stop func()) {
	t.Helper()
	twice := true
	m, err := manager.New(management(t), manager.Options{
		Scheme: scheme(t), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &twice},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&cluster.Reconciler{Settings: settings(c), Events: m.GetEventRecorder("minos"), Metrics: measured}).SetupWithManager(m); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// condition waits until a cluster's condition has a status and a reason.
func condition(t testing.TB, key types.NamespacedName, kind string, want string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	kubetest.Eventually(t, kamajitest.Within, func(ctx context.Context) error {
		read := &api.TalosCluster{}
		if err := kubetest.Client(t).Get(ctx, key, read); err != nil {
			return err
		}
		seen := meta.FindStatusCondition(read.Status.Conditions, kind)
		if seen == nil || string(seen.Status)+" "+seen.Reason != want {
			return fmt.Errorf("%s is not %s; the status is %+v", kind, want, read.Status)
		}
		found = *seen
		return nil
	})
	return found
}

// get reads a cluster.
func get(t testing.TB, key types.NamespacedName) *api.TalosCluster {
	t.Helper()
	found := &api.TalosCluster{}
	if err := kubetest.Client(t).Get(t.Context(), key, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// create makes objects.
func create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := kubetest.Client(t).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// remove asks for the end of an object.
func remove(t testing.TB, object client.Object) {
	t.Helper()
	if err := kubetest.Client(t).Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// secretOf reads a Secret.
func secretOf(ctx context.Context, c client.Client, namespace, name string) (*corev1.Secret, error) {
	found := &corev1.Secret{}
	return found, c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, found)
}
