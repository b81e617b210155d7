// SPDX-License-Identifier: Apache-2.0

// Package kubetest gives tests a real control plane with our kinds installed: one for all tests of a package.
//
//	func TestMain(m *testing.M) { kubetest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		c := kubetest.Client(t)
//		namespace := kubetest.Namespace(t)
//		…
//	}
//
// Without the program that kube/ builds, the tests fail with one line that says what to run. They never skip.
package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/crds"
)

// startTimeout bounds the start of the control plane on a busy machine. It bounds, and does not measure.
const startTimeout = 3 * time.Minute

// Options say what a package's tests need beside our kinds.
type Options struct {
	// ClusterAPI starts Cluster API's core controllers.
	ClusterAPI bool
}

// running is the control plane of this test binary.
var running *environment

// An environment is what the tests of a package share.
type environment struct {
	plane  *controlplane.ControlPlane
	client client.Client
}

// Main runs the tests of a package with a control plane of their own, and ends the program.
func Main(m *testing.M) {
	MainWith(m, Options{})
}

// MainWith is Main with more than our kinds.
func MainWith(m *testing.M, options Options) {
	code, err := run(m, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run starts, tests and stops. It is apart from MainWith because os.Exit runs no deferred function.
func run(m *testing.M, options Options) (code int, err error) {
	dir, err := os.MkdirTemp("", "kubetest-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if options.ClusterAPI {
		if err := plane.StartClusterAPI(ctx); err != nil {
			return 1, err
		}
	}
	c, err := connect(plane)
	if err != nil {
		return 1, err
	}
	if err := InstallCRDs(ctx, c, charts.CRDs); err != nil {
		return 1, err
	}
	running = &environment{plane: plane, client: c}
	return m.Run(), nil
}

// connect returns a client that knows Kubernetes' kinds and ours.
func connect(plane *controlplane.ControlPlane) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	config, err := plane.Config()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// InstallCRDs installs every definition of a folder and waits until the API server serves them.
func InstallCRDs(ctx context.Context, c client.Client, folder fs.FS) error {
	files, err := fs.Glob(folder, "minos/crds/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := Install(ctx, c, definition); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// Install installs one definition and waits until the API server serves it. One that is there already stays: tests of a
// package share the control plane, also when they run more than once.
func Install(ctx context.Context, c client.Client, definition *apiextensionsv1.CustomResourceDefinition) error {
	if err := client.IgnoreAlreadyExists(c.Create(ctx, definition)); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(definition), definition); err != nil {
			return false, err
		}
		return crds.IsServed(definition), nil
	})
}

// Client returns the client of the package's control plane.
func Client(t testing.TB) client.Client {
	t.Helper()
	if running == nil {
		t.Fatal("kubetest: the package's TestMain does not call kubetest.Main")
	}
	return running.client
}

// Kubeconfig returns a file with which the package's control plane is reached.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	Client(t)
	return running.plane.Kubeconfig
}

// Namespace makes a namespace for one test and removes it afterwards.
func Namespace(t testing.TB) string {
	t.Helper()
	c := Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := client.IgnoreNotFound(c.Delete(context.Background(), namespace)); err != nil {
			t.Errorf("remove namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// Eventually waits until a condition holds. What the condition says when it does not is shown if it never does.
func Eventually(t testing.TB, within time.Duration, holds func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		now := holds(ctx)
		if ctx.Err() == nil || last == nil { // that the time is up is not what did not hold
			last = now
		}
		return now == nil, nil
	})
	if err != nil {
		t.Fatalf("not within %s: %v", within, last)
	}
}
