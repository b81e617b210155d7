// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) {
	outside = newProxy()
	kubetest.Main(m)
}

// external is a cluster whose kubeconfig is in a Secret.
func external(namespace string) *api.TalosCluster {
	return &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"},
		Spec: api.TalosClusterSpec{ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{
			KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "kubeconfig"},
		}}},
	}
}

// TestClient reaches a cluster, notices that its kubeconfig changed, and tells a Secret that is missing from one that is wrong.
func TestClient(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	clients := tenant.New(c)
	if _, err := clients.Client(t.Context(), external(namespace)); !apierrors.IsNotFound(err) {
		t.Errorf("without a Secret: %v", err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}, Data: map[string][]byte{"kubeconfig": kubeconfig(t)}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	first := reach(t, clients, namespace)
	if again := reach(t, clients, namespace); again != first {
		t.Error("a second client was made")
	}
	secret.Labels = map[string]string{"changed": "yes"}
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if changed := reach(t, clients, namespace); changed == first {
		t.Error("the Secret changed, and the client did not")
	}
	secret.Data["kubeconfig"] = nil
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.Client(t.Context(), external(namespace)); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("without the key: %v", err)
	}
}

func kubeconfig(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reach lists the namespaces of a tenant.
func reach(t *testing.T, clients *tenant.Clients, namespace string) client.Client {
	t.Helper()
	c, err := clients.Client(t.Context(), external(namespace))
	if err == nil {
		err = c.List(t.Context(), &corev1.NamespaceList{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestHarmful refuses kubeconfigs that would do something on the operator's own machine: a tenant writes them.
func TestHarmful(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	const whole = `{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],
		clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"CLUSTER}}], users: [{name: x, user: {USER}}]}`
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ cluster, user, want string }{
		"a program":          {user: `exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}`, want: "runs a program"},
		"a provider":         {user: `auth-provider: {name: gcp}`, want: "runs a program"},
		"a token file":       {user: `tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token`, want: "refers to a file"},
		"a certificate file": {user: `client-certificate: /etc/x`, want: "refers to a file"},
		"a key file":         {user: `client-key: /etc/x`, want: "refers to a file"},
		"an authority file":  {cluster: `, certificate-authority: /etc/x`, want: "refers to a file"},
		"a proxy":            {cluster: `, proxy-url: "http://127.0.0.1:2"`, want: "goes through a proxy"},
	}
	for name, test := range tests {
		secret.Data = map[string][]byte{"kubeconfig": []byte(strings.NewReplacer("CLUSTER", test.cluster, "USER", test.user).Replace(whole))}
		if err := c.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.New(c).Client(t.Context(), external(namespace)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnreadable tells a Secret that could not be read from one that does not exist.
func TestUnreadable(t *testing.T) {
	broken := errors.New("the API server is away")
	_, err := tenant.New(failing{Client: kubetest.Client(t), err: broken}).Client(t.Context(), external("default"))
	if !errors.Is(err, broken) || apierrors.IsNotFound(err) {
		t.Errorf("it is %v", err)
	}
}

// failing cannot read.
type failing struct {
	client.Client
	err error
}

// Get fails.
func (f failing) Get(_ context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return f.err
}
