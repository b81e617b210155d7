// SPDX-License-Identifier: Apache-2.0

// Package material gathers what the machines of a cluster are configured with: what the cluster was born with, its Kubernetes
// authority, its endpoint, and the tokens of a pool. What does not exist yet is waited for; what cannot be read is an error, and
// never made anew.
package material

import (
	"context"
	"errors"
	"fmt"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/pki"
)

// Waiting says what has to exist first, in words. It is no failure.
type Waiting struct{ For string }

// Error is what is waited for.
func (w *Waiting) Error() string { return w.For }

// IsWaiting says whether an error is one.
func IsWaiting(err error) bool {
	_, ok := errors.AsType[*Waiting](err)
	return ok
}

// Bundle returns the secrets with which the machines of a pool are configured.
func Bundle(ctx context.Context, reader client.Reader, cluster *api.TalosCluster, pool *api.NodePool) (*secrets.Bundle, error) {
	identity, err := Identity(ctx, reader, cluster)
	if err != nil {
		return nil, err
	}
	authority, err := KubernetesCA(ctx, reader, cluster)
	if err != nil {
		return nil, err
	}
	join, err := read(ctx, reader, cluster.Namespace, names.Join(pool))
	if err != nil {
		return nil, err
	}
	if join.Annotations[names.AnnotationActiveUntil] == "" {
		return nil, &Waiting{fmt.Sprintf("the tokens in Secret %s are not known to the cluster yet", join.Name)}
	}
	bundle := identity.Bundle
	bundle.Certs.K8s = &x509.PEMEncodedCertificateAndKey{Crt: authority}
	bundle.TrustdInfo.Token = string(join.Data[names.JoinToken])
	bundle.Secrets.BootstrapToken = string(join.Data[names.JoinBootstrap])
	return bundle, nil
}

// Identity returns what a cluster was born with. It is read anew each time, so that callers may change it.
func Identity(ctx context.Context, reader client.Reader, cluster *api.TalosCluster) (*pki.Secrets, error) {
	secret, err := read(ctx, reader, cluster.Namespace, names.Identity(cluster))
	if err != nil {
		return nil, err
	}
	identity, err := pki.Parse(secret.Data[names.IdentityKey], pki.NeedIdentity)
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %s: %w", names.IdentityKey, secret.Name, err)
	}
	return identity, nil
}

// KubernetesCA returns the certificate of a cluster's Kubernetes authority: as Kamaji wrote it, or as the kubeconfig of an
// external one says.
func KubernetesCA(ctx context.Context, reader client.Reader, cluster *api.TalosCluster) ([]byte, error) {
	if cluster.Spec.ControlPlane.External == nil {
		return key(ctx, reader, client.ObjectKey{Namespace: cluster.Namespace, Name: names.KubernetesCA(cluster)}, corev1.TLSCertKey)
	}
	name, field := tenant.Kubeconfig(cluster)
	text, err := key(ctx, reader, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, field)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %s is not a kubeconfig", field, name) // why would quote from the Secret
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil || config.Clusters[current.Cluster] == nil || len(config.Clusters[current.Cluster].CertificateAuthorityData) == 0 {
		return nil, fmt.Errorf("key %s of Secret %s: its current context has no certificate-authority-data, which machines need to trust the API server", field, name)
	}
	return config.Clusters[current.Cluster].CertificateAuthorityData, nil
}

// key returns what a Secret has in a key.
func key(ctx context.Context, reader client.Reader, which client.ObjectKey, field string) ([]byte, error) {
	secret, err := read(ctx, reader, which.Namespace, which.Name)
	if err != nil {
		return nil, err
	}
	if len(secret.Data[field]) == 0 {
		return nil, &Waiting{fmt.Sprintf("Secret %s has no key %s yet", which.Name, field)}
	}
	return secret.Data[field], nil
}

// read reads a Secret. One that is not there is waited for.
func read(ctx context.Context, reader client.Reader, namespace, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, &Waiting{fmt.Sprintf("Secret %s does not exist yet", name)}
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return secret, nil
}
