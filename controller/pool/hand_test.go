// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kubetest"
)

// counting is a client that counts what is written.
func (s *stage) counting(config *rest.Config, options client.Options) (client.Client, error) {
	plain, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(plain, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			s.note("create", object)
			return c.Create(ctx, object, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			s.note("delete", object)
			return c.Delete(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			s.note("patch", object)
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			s.note("apply", object)
			return c.Apply(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			s.note("patch the status of", object)
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}), nil
}

// note notes something that is written.
func (s *stage) note(verb string, what any) {
	text, err := yaml.Marshal(what)
	if err != nil {
		s.t.Error(err)
	}
	s.wrote.Store(s.writes.Add(1), verb+" "+string(text))
}

// apply makes objects, each in its own document.
func (s *stage) apply(text string) {
	s.t.Helper()
	for _, document := range strings.Split(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), object); err != nil {
			s.t.Fatal(err)
		}
		object.SetNamespace(s.namespace)
		if err := kubetest.Client(s.t).Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// secret makes a Secret of the cluster.
func (s *stage) secret(name, key string, value []byte) {
	s.t.Helper()
	secret := &corev1.Secret{
		// Cluster API sees Secrets with its label only.
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Labels: map[string]string{names.LabelClusterAPI: "shop"}},
		Type:       "cluster.x-k8s.io/secret", Data: map[string][]byte{key: value},
	}
	if err := kubetest.Client(s.t).Create(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
}

// openCluster makes what the cluster's controller makes: its secrets, its objects for Cluster API, and a status that is ready.
func (s *stage) openCluster() {
	s.t.Helper()
	s.apply(declaredCluster)
	found := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	identity, err := s.plane.Secrets.Marshal()
	if err != nil {
		s.t.Fatal(err)
	}
	s.secret(names.Identity(found), names.IdentityKey, identity)
	s.secret(names.KubernetesCA(found), corev1.TLSCertKey, s.plane.Secrets.Bundle.Certs.K8s.Crt)
	s.secret(names.Kubeconfig(found), "value", s.plane.Plane.Kubeconfig())
	s.apply(fmt.Sprintf(clusterObjects, s.own))
	s.ready()
}

// ready writes the cluster's status.
func (s *stage) ready() {
	s.t.Helper()
	found := &api.TalosCluster{}
	c := kubetest.Client(s.t)
	if err := c.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "shop"}, found); err != nil {
		s.t.Fatal(err)
	}
	found.Status.Endpoint = &api.Endpoint{Host: s.own, Port: 6443}
	found.Status.KubernetesVersion = kubernetesVersion
	found.Status.Conditions = []metav1.Condition{{
		Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: api.ReasonReady, LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(s.t.Context(), found); err != nil {
		s.t.Fatal(err)
	}
}

// activate makes the tokens of a pool known to the cluster, as its controller does.
func (s *stage) activate(name string) {
	s.t.Helper()
	c, secret := kubetest.Client(s.t), &corev1.Secret{}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name + "-join"}, secret)
	})
	file := filepath.Join(s.folder, "signer", "tokens", name)
	if err := os.WriteFile(file, secret.Data[names.JoinToken], 0o600); err != nil {
		s.t.Fatal(err)
	}
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	id, rest, _ := strings.Cut(string(secret.Data[names.JoinBootstrap]), ".")
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": rest, "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"expiration": until, "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}
	if _, err := s.tenant.CoreV1().Secrets(metav1.NamespaceSystem).Create(s.t.Context(), token, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	before := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, names.AnnotationActiveUntil, until)
	if err := c.Patch(s.t.Context(), secret, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

// coreKind is a kind of Kubernetes's own.
func coreKind(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

// get reads a pool.
func (s *stage) get(ctx context.Context, name string) (*api.NodePool, error) {
	found := &api.NodePool{}
	return found, kubetest.Client(s.t).Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found)
}

// patch changes the pool.
func (s *stage) patch(text string) {
	s.t.Helper()
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "workers"}}
	if err := kubetest.Client(s.t).Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		s.t.Fatal(err)
	}
}

// list returns the objects of a kind.
func (s *stage) list(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := kubetest.Client(s.t).List(ctx, found, client.InNamespace(s.namespace))
	return found.Items, err
}

// again looks at the pool once more, and says what that wrote.
func (s *stage) again() (wrote []any) {
	s.t.Helper()
	before := s.writes.Load()
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: "workers"}}
	if _, err := s.reconciler.Reconcile(s.t.Context(), request); err != nil {
		s.t.Fatal(err)
	}
	for at := before + 1; at <= s.writes.Load(); at++ {
		what, _ := s.wrote.Load(at)
		wrote = append(wrote, what)
	}
	return wrote
}
