// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"minos.dev/minos/sim/controlplane"
)

// within bounds a start on a busy machine. It bounds, and does not measure.
const within = 3 * time.Minute

// start starts a control plane on a folder and stops it when the test ends, unless the test has.
func start(t *testing.T, dir string) (*controlplane.ControlPlane, kubernetes.Interface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Kill) // harmless after a stop
	config, err := plane.Config()
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return plane, clients
}

// remember stores something.
func remember(t *testing.T, clients kubernetes.Interface, name string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// expect wants it to be there.
func expect(t *testing.T, clients kubernetes.Interface, name string) {
	t.Helper()
	if _, err := clients.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("it was lost: %v", err)
	}
}

// TestKeepsWhatWasStored stops a control plane, cuts its power, and expects it to know everything each time.
func TestKeepsWhatWasStored(t *testing.T) {
	dir := t.TempDir()
	plane, clients := start(t, dir)
	remember(t, clients, "before-the-stop")
	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}

	plane, clients = start(t, dir)
	expect(t, clients, "before-the-stop")
	remember(t, clients, "before-the-power-cut")
	plane.Kill()

	_, clients = start(t, dir)
	expect(t, clients, "before-the-stop")
	expect(t, clients, "before-the-power-cut")
}

// TestIsAControlPlane expects what only a real one does: garbage collection, namespaces that go, and refusals.
func TestIsAControlPlane(t *testing.T) {
	dir := t.TempDir()
	_, clients := start(t, dir)
	namespaces := clients.CoreV1().Namespaces()
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	maps := clients.CoreV1().ConfigMaps("short")
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{reference}}}
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the owned object", func() error { _, err := maps.Get(t.Context(), "owned", metav1.GetOptions{}); return err })
	if err := namespaces.Delete(t.Context(), "short", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the namespace", func() error { _, err := namespaces.Get(t.Context(), "short", metav1.GetOptions{}); return err })

	_, err = controlplane.Start(t.Context(), controlplane.Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second one on the same folder: %v", err)
	}
}

// gone waits until an object is not found any more.
func gone(t *testing.T, what string, get func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := get(); apierrors.IsNotFound(err) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s is still there", what)
		}
	}
}

// TestWithoutTheProgram expects one line that says what to run, and no skip.
func TestWithoutTheProgram(t *testing.T) {
	checkout := t.TempDir()
	if err := os.MkdirAll(filepath.Join(checkout, "kube"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(checkout, "kube", "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(checkout)
	t.Setenv(controlplane.ProgramVariable, "")
	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir()})
	if err == nil || err.Error() != "bin/minos-kube is not built: run 'make kube' first" {
		t.Errorf("got %v", err)
	}
}
