// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"minos.dev/minos/sim/hosted"
)

const (
	// clusterSecret is the type of Cluster API's Secrets, and clusterLabel the label by which it finds them.
	clusterSecret = corev1.SecretType("cluster.x-k8s.io/secret")
	clusterLabel  = "cluster.x-k8s.io/cluster-name"
	// keyAnnotation chooses which kubeconfig Cluster API gets.
	keyAnnotation = "kamaji.clastix.io/kubeconfig-secret-key"
)

// authoritySecret is Kamaji's Secret with the authority, under both pairs of names.
func authoritySecret(key types.NamespacedName, authority hosted.Authority) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: kamajiMeta(key, "ca", "ca"), Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{
			"ca.crt": authority.Certificate, "ca.key": authority.Key,
			corev1.TLSCertKey: authority.Certificate, corev1.TLSPrivateKeyKey: authority.Key,
		},
	}
}

// accessSecret is Kamaji's Secret with the administrators' kubeconfigs. All are the same here: nobody resolves the name of
// a Service, and there is one administrator.
func accessSecret(key types.NamespacedName, kubeconfig []byte) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: kamajiMeta(key, "admin-kubeconfig", "admin-kubeconfig"), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{},
	}
	for _, name := range []string{"admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"} {
		secret.Data[name] = kubeconfig
	}
	return secret
}

// kamajiMeta is how Kamaji names and labels what is its own.
func kamajiMeta(key types.NamespacedName, suffix, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name + "-" + suffix,
		Labels: map[string]string{
			"kamaji.clastix.io/project": "kamaji", "kamaji.clastix.io/name": key.Name, "kamaji.clastix.io/component": component,
		},
	}
}

// copies are the provider's Secrets: Kamaji's, under the names and in the form of Cluster API.
func (u *turn) copies(authority hosted.Authority, access *corev1.Secret) ([]*corev1.Secret, error) {
	name := "admin.conf"
	if u.spec.Network.AdvertiseAddress != "" {
		name = "admin.svc"
	}
	if chosen := u.object.GetAnnotations()[keyAnnotation]; chosen != "" {
		name = chosen
	}
	kubeconfig, ok := access.Data[name]
	if !ok {
		return nil, fmt.Errorf("there is no key %q in Secret %s: annotation %s chooses it", name, access.Name, keyAnnotation)
	}
	found := []*corev1.Secret{u.copyOf("kubeconfig", map[string][]byte{"value": kubeconfig})}
	if u.cluster.Name != u.key.Name { // with the same name, Kamaji's own Secret serves both
		found = append(found, u.copyOf("ca", map[string][]byte{
			corev1.TLSCertKey: authority.Certificate, corev1.TLSPrivateKeyKey: authority.Key,
		}))
	}
	return found, nil
}

// copyOf is one of them.
func (u *turn) copyOf(what string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.key.Namespace, Name: u.cluster.Name + "-" + what,
			Labels: map[string]string{
				clusterLabel: u.cluster.Name, "kamaji.clastix.io/component": "capi", "kamaji.clastix.io/secret": what,
				"kamaji.clastix.io/cluster": u.cluster.Name, "kamaji.clastix.io/tcp": u.key.Name,
			},
		},
		Type: clusterSecret, Data: data,
	}
}

// publishSecrets writes the provider's Secrets.
func (u *turn) publishSecrets(ctx context.Context) error {
	if u.pod.plane == nil {
		return nil // they were written when it ran
	}
	kubeconfig, err := u.access()
	if err != nil {
		return err
	}
	copies, err := u.copies(u.pod.plane.Authority(), accessSecret(u.key, kubeconfig))
	if err != nil {
		return err
	}
	for _, secret := range copies {
		if err := u.store(ctx, secret); err != nil {
			return err
		}
	}
	return nil
}

// store creates or updates a Secret that belongs to the control plane. One that belongs to somebody else is an error.
func (u *turn) store(ctx context.Context, want *corev1.Secret) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, u.kamaji.client, secret, func() error {
		if secret.Labels == nil {
			secret.Labels = map[string]string{}
		}
		for key, value := range want.Labels {
			secret.Labels[key] = value
		}
		secret.Type, secret.Data = want.Type, want.Data
		return controllerutil.SetControllerReference(u.object, secret, u.kamaji.client.Scheme())
	})
	if err != nil {
		return fmt.Errorf("write Secret %s: %w", want.Name, err)
	}
	return nil
}

// removeSecrets removes every Secret that belongs to a control plane.
func (t *tenant) removeSecrets(ctx context.Context, owner client.Object) error {
	var found corev1.SecretList
	if err := t.kamaji.client.List(ctx, &found, client.InNamespace(t.key.Namespace)); err != nil {
		return err
	}
	for at := range found.Items {
		if metav1.IsControlledBy(&found.Items[at], owner) {
			if err := client.IgnoreNotFound(t.kamaji.client.Delete(ctx, &found.Items[at])); err != nil {
				return err
			}
		}
	}
	return nil
}
