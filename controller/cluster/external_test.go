// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/trust"
)

// somewhere starts an API server that is nobody's of ours.
func somewhere(t *testing.T) *hosted.ControlPlane {
	t.Helper()
	network, err := loopback.Claim("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	address, err := network.Take("outside")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kamajitest.Within)
	defer cancel()
	plane, err := hosted.Start(ctx, hosted.Options{Dir: t.TempDir(), Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Kill)
	return plane
}

// TestExternal brings machines to an API server that exists already, and takes the cluster away when that one is dead.
func TestExternal(t *testing.T) {
	clock := &clock{}
	defer operate(t, clock)()
	plane, key := somewhere(t), types.NamespacedName{Namespace: kubetest.Namespace(t), Name: "outside"}
	host := plane.Endpoint().Addr().String()
	declared := &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.35.2", TalosVersion: kamajitest.TalosVersion, Endpoint: &api.Endpoint{Host: host, Port: hosted.Port},
			ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "admin"}}},
		},
	}
	create(t, declared.DeepCopy())
	seen := condition(t, key, api.ConditionControlPlaneReady, "False Waiting")
	if !strings.Contains(seen.Message, "Secret access") {
		t.Errorf("it does not say what it waits for: %s", seen.Message)
	}
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "access"}, Data: map[string][]byte{"admin": plane.Kubeconfig()}})
	condition(t, key, api.ConditionTenantReady, "True Ready")
	if seen = condition(t, key, api.ConditionTrustReady, "False Failed"); !strings.Contains(seen.Message, "docs/signer/standalone.yaml") {
		t.Errorf("it does not say who should run the signer: %s", seen.Message)
	}
	create(t, poolOf(key, "workers"), joinOf(key, "workers", token, bootstrap))
	active(t, key, "workers")
	sign(t, plane, key)
	condition(t, key, api.ConditionReady, "True Ready")
	if version := get(t, key).Status.KubernetesVersion; !strings.HasPrefix(string(version), "v1.") {
		t.Errorf("its version is %q", version)
	}
	binds(t, key)
	join(t, get(t, key), poolOf(key, "workers"))

	plane.Kill()
	condition(t, key, api.ConditionTenantReady, "Unknown Unreadable")
	remove(t, poolOf(key, "workers"))
	remove(t, declared)
	condition(t, key, api.ConditionReady, "False Deleting")
	clock.forward(3 * time.Minute)
	kubetest.Eventually(t, kamajitest.Within, func(ctx context.Context) error {
		if err := kubetest.Client(t).Get(ctx, key, &api.TalosCluster{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there, %w", err)
		}
		return nil
	})
	hasOnly(t, key.Namespace, "access", "workers-join")
}

// sign runs the signer as an administrator would: beside the API server, with the Secrets that the operator made.
func sign(t *testing.T, plane *hosted.ControlPlane, key types.NamespacedName) {
	t.Helper()
	folder, settings := t.TempDir(), trust.Default()
	for name, file := range map[string]string{key.Name + "-talos-ca": "ca", key.Name + "-signer-tls": "tls", key.Name + "-signer-tokens": "tokens"} {
		secret, err := secretOf(t.Context(), kubetest.Client(t), key.Namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(folder, file), 0o700); err != nil {
			t.Fatal(err)
		}
		for entry, text := range secret.Data {
			if err := os.WriteFile(filepath.Join(folder, file, entry), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := &settings.Sources
	files.CACert, files.CAKey = filepath.Join(folder, "ca", "tls.crt"), filepath.Join(folder, "ca", "tls.key")
	files.TLSCert, files.TLSKey = filepath.Join(folder, "tls", "tls.crt"), filepath.Join(folder, "tls", "tls.key")
	files.Tokens = filepath.Join(folder, "tokens")
	if err := plane.Sign(t.Context(), settings, slog.New(slog.DiscardHandler), io.Discard); err != nil {
		t.Fatal(err)
	}
}

// binds looks for what kubeadm would have left.
func binds(t *testing.T, key types.NamespacedName) {
	t.Helper()
	inside, err := tenant.New(kubetest.Client(t)).Client(t.Context(), get(t, key))
	if err != nil {
		t.Fatal(err)
	}
	var found rbacv1.ClusterRoleBindingList
	if err := inside.List(t.Context(), &found, client.MatchingLabels{names.LabelManagedBy: names.Owner}); err != nil || len(found.Items) != 4 {
		t.Errorf("there are %d bindings of ours, %v", len(found.Items), err)
	}
}

// hasOnly wants these Secrets in a namespace and no others.
func hasOnly(t *testing.T, namespace string, wanted ...string) {
	t.Helper()
	var secrets corev1.SecretList
	if err := kubetest.Client(t).List(t.Context(), &secrets, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, name := range wanted {
		left[name] = true
	}
	for _, secret := range secrets.Items {
		if !left[secret.Name] {
			t.Errorf("Secret %s is left behind", secret.Name)
		}
		delete(left, secret.Name)
	}
	if len(left) > 0 {
		t.Errorf("Secrets are missing: %v", left)
	}
}
