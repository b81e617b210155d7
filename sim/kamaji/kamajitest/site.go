// SPDX-License-Identifier: Apache-2.0

// Package kamajitest is what tests of the double share: a management cluster with the double in it, tenants as a user
// declares them, and workers that join them.
package kamajitest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/loopback"
)

// Within bounds a wait on a busy machine. It bounds, and does not measure.
const Within = 3 * time.Minute

// A Site is a management cluster with the double in it.
type Site struct {
	T         testing.TB
	Namespace string
	// Version is the version of KamajiControlPlane that it serves.
	Version string
	// Folder is the double's.
	Folder string
	Kamaji *kamaji.Kamaji

	stop func()
}

// NewSite starts the double on the package's management cluster.
func NewSite(t testing.TB, version string) *Site {
	t.Helper()
	ctrllog.SetLogger(ctrllog.Log.WithSink(ctrllog.NullLogSink{})) // or it would complain that nobody did
	s := &Site{T: t, Namespace: kubetest.Namespace(t), Version: version, Folder: t.TempDir()}
	s.Start()
	t.Cleanup(func() { s.stop() })
	return s
}

// open prepares a double on a folder.
func open(kubeconfig, folder string) (*kamaji.Kamaji, *loopback.Network, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	network, err := loopback.Claim(folder)
	if err != nil {
		return nil, nil, err
	}
	double, err := kamaji.New(kamaji.Options{Config: config, Folder: folder, Network: network, Every: 100 * time.Millisecond})
	return double, network, err
}

// Start starts the double on its folder.
func (s *Site) Start() {
	s.T.Helper()
	double, network, err := open(kubetest.Kubeconfig(s.T), s.Folder)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Kamaji = double
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- double.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.T.Error(err)
		}
		if err := network.Close(); err != nil {
			s.T.Error(err)
		}
		s.stop = func() {}
	}
}

// Cut ends the double and all that it runs, without a word to anybody.
func (s *Site) Cut() { s.stop() }

// Apply creates every object of a text in the site's namespace.
func (s *Site) Apply(text string) {
	s.T.Helper()
	for part := range strings.SplitSeq(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), object); err != nil {
			s.T.Fatalf("%v in %s", err, part)
		}
		object.SetNamespace(s.Namespace)
		if err := kubetest.Client(s.T).Create(s.T.Context(), object); err != nil {
			s.T.Fatal(err)
		}
	}
}

// Get reads an object of the site's namespace.
func (s *Site) Get(ctx context.Context, apiVersion, kind, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	err := kubetest.Client(s.T).Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: name}, object)
	return object, err
}

// Plane reads a KamajiControlPlane.
func (s *Site) Plane(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	return s.Get(ctx, "controlplane.cluster.x-k8s.io/"+s.Version, "KamajiControlPlane", name)
}

// Patch changes a KamajiControlPlane.
func (s *Site) Patch(name, patch string) {
	s.T.Helper()
	object, err := s.Plane(s.T.Context(), name)
	if err == nil {
		err = kubetest.Client(s.T).Patch(s.T.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

// Secret reads a Secret.
func (s *Site) Secret(name string) *corev1.Secret {
	s.T.Helper()
	secret := &corev1.Secret{}
	if err := kubetest.Client(s.T).Get(s.T.Context(), types.NamespacedName{Namespace: s.Namespace, Name: name}, secret); err != nil {
		s.T.Fatal(err)
	}
	return secret
}

// Exists waits until there is a Secret.
func (s *Site) Exists(name string) {
	s.T.Helper()
	kubetest.Eventually(s.T, Within, func(ctx context.Context) error {
		_, err := s.Get(ctx, "v1", "Secret", name)
		return err
	})
}

// Keep makes or replaces a Secret.
func (s *Site) Keep(name string, content map[string]string) {
	s.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, StringData: content}
	c := kubetest.Client(s.T)
	err := c.Create(s.T.Context(), secret)
	if apierrors.IsAlreadyExists(err) {
		err = c.Update(s.T.Context(), secret)
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

// Eventually waits until a field of a KamajiControlPlane has a value.
func (s *Site) Eventually(name string, want any, path ...string) {
	s.T.Helper()
	kubetest.Eventually(s.T, Within, func(ctx context.Context) error {
		object, err := s.Plane(ctx, name)
		if err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...); got != want {
			return fmt.Errorf("%s of %s is %v, want %v; its status is %v", strings.Join(path, "."), name, got, want, object.Object["status"])
		}
		return nil
	})
}

// Kubeconfig writes the kubeconfig that Cluster API has of a Cluster to a file.
func (s *Site) Kubeconfig(cluster string) string {
	s.T.Helper()
	file := filepath.Join(s.T.TempDir(), cluster)
	if err := os.WriteFile(file, s.Secret(cluster + "-kubeconfig").Data["value"], 0o600); err != nil {
		s.T.Fatal(err)
	}
	return file
}
