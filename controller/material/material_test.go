// SPDX-License-Identifier: Apache-2.0

package material_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// born is what a cluster was born with, as its controller writes it: without an authority of Kubernetes.
func born(t *testing.T) []byte {
	t.Helper()
	contract, err := config.Contract("v1.13.9")
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := pki.New(contract, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	secrets.Bundle.Certs.K8s = nil
	text, err := secrets.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBundle gathers what machines are configured with, and says at each step what it waits for.
func TestBundle(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}
	cluster.Spec.ControlPlane.Kamaji = &api.KamajiControlPlane{}
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "general"}}
	waits := func(want string) {
		t.Helper()
		if _, err := material.Bundle(t.Context(), c, cluster, pool); !material.IsWaiting(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("it is %v, want to wait for %s", err, want)
		}
	}
	make := func(name string, annotations map[string]string, data map[string][]byte) *corev1.Secret {
		t.Helper()
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: annotations}, Data: data}
		if err := c.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	waits("Secret shop-talos-secrets does not exist yet")
	make(names.Identity(cluster), nil, map[string][]byte{names.IdentityKey: born(t)})
	waits("Secret shop-ca does not exist yet")
	authority := make(names.KubernetesCA(cluster), nil, nil)
	waits("Secret shop-ca has no key tls.crt yet")
	authority.Data = map[string][]byte{corev1.TLSCertKey: []byte("the authority")}
	if err := c.Update(t.Context(), authority); err != nil {
		t.Fatal(err)
	}
	waits("Secret general-join does not exist yet")
	join := make(names.Join(pool), nil, map[string][]byte{names.JoinToken: []byte("aaaaaa.bbbbbbbbbbbbbbbb"), names.JoinBootstrap: []byte("cccccc.dddddddddddddddd")})
	waits("the tokens in Secret general-join are not known to the cluster yet")
	join.Annotations = map[string]string{names.AnnotationActiveUntil: time.Now().Format(time.RFC3339)}
	if err := c.Update(t.Context(), join); err != nil {
		t.Fatal(err)
	}
	bundle, err := material.Bundle(t.Context(), c, cluster, pool)
	if err != nil {
		t.Fatal(err)
	}
	if string(bundle.Certs.K8s.Crt) != "the authority" || bundle.TrustdInfo.Token != "aaaaaa.bbbbbbbbbbbbbbbb" || bundle.Secrets.BootstrapToken != "cccccc.dddddddddddddddd" {
		t.Errorf("it is %+v", bundle)
	}
}

// TestUnreadable tells what could not be read from what does not exist: it is no reason to wait, and none to make it anew.
func TestUnreadable(t *testing.T) {
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
	broken := errors.New("the API server is away")
	_, err := material.Identity(t.Context(), failing{Client: kubetest.Client(t), err: broken}, cluster)
	if !errors.Is(err, broken) || material.IsWaiting(err) {
		t.Errorf("it is %v", err)
	}
}

// failing cannot read.
type failing struct {
	client.Client
	err error
}

// Get fails.
func (f failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}
