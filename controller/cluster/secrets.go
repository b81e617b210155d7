// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
)

// secrets brings about the cluster's identity and what follows from it.
func (t *turn) secrets(ctx context.Context) (metav1.Condition, error) {
	if err := t.born(ctx); err != nil {
		return metav1.Condition{}, err
	}
	for _, write := range []func(context.Context) error{t.authority, t.signerTokens, t.serving, t.access} {
		if err := write(ctx); err != nil {
			return metav1.Condition{}, err
		}
	}
	return hosted.Yes(api.ConditionSecretsReady, "identity, authority and certificates exist"), nil
}

// born reads the identity of a cluster. It is made if it is known that there never was one; one that cannot be read or that is
// gone is never made anew.
func (t *turn) born(ctx context.Context) (err error) {
	for _, reader := range []client.Reader{t.Client, t.Live} { // a cache may be late
		t.identity, err = material.Identity(ctx, reader, t.cluster)
		if err == nil {
			return t.own(ctx, reader)
		}
		if !material.IsWaiting(err) {
			return err
		}
	}
	hasAuthority, err := t.exists(ctx, names.TalosCA(t.cluster))
	if err != nil {
		return err
	}
	if hosted.Born(t.cluster, hasAuthority) {
		return &verdict{api.ReasonNotFound, fmt.Errorf(
			"the cluster was born with Secret %s, which is gone: restore it from a backup; it is not made anew, because that would cut every machine off",
			names.Identity(t.cluster))}
	}
	if err := t.bear(ctx); err != nil {
		return err
	}
	if t.identity, err = material.Identity(ctx, t.Live, t.cluster); err != nil { // which is what is stored, whoever was first
		return err
	}
	return t.own(ctx, t.Live)
}

// own refuses an identity that somebody else has put in the place of the cluster's: they would be the authority of its machines.
func (t *turn) own(ctx context.Context, reader client.Reader) error {
	secret := &corev1.Secret{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: t.cluster.Namespace, Name: names.Identity(t.cluster)}, secret); err != nil {
		return fmt.Errorf("read Secret %s: %w", names.Identity(t.cluster), err)
	}
	if secret.Labels[names.LabelPurpose] == names.PurposeIdentity && secret.Labels[names.LabelCluster] == t.cluster.Name {
		return nil
	}
	return &verdict{api.ReasonDenied, fmt.Errorf(
		"the Secret %s was not made by the operator: delete it, so that the cluster can have its identity there; one from a backup needs its labels",
		secret.Name)}
}

// exists says whether a Secret exists, by the word of the API server itself.
func (t *turn) exists(ctx context.Context, name string) (bool, error) {
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.cluster.Namespace, Name: name}, &corev1.Secret{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// bear makes an identity: of all that Talos would make, what a cluster keeps whose control plane is not of Talos machines.
func (t *turn) bear(ctx context.Context) error {
	contract, err := config.Contract(t.cluster.Spec.TalosVersion)
	if err != nil {
		return &verdict{api.ReasonInvalid, err}
	}
	made, err := pki.NewIdentity(contract, t.now)
	if err != nil {
		return failed(err)
	}
	text, err := made.Marshal()
	if err != nil {
		return failed(err)
	}
	secret := hosted.Secret(t.cluster, names.Identity(t.cluster), names.PurposeIdentity)
	immutable := true
	secret.Immutable, secret.Data = &immutable, map[string][]byte{names.IdentityKey: text}
	born, err := t.writer.Create(ctx, secret)
	if born {
		t.announce(hosted.Moment{Reason: momentBorn, Message: "identity and Talos authority were made, and are never made again: keep a backup of Secret " + secret.Name})
	}
	return failed(err)
}

// authority writes the Talos authority as the signer mounts it.
func (t *turn) authority(ctx context.Context) error {
	return t.pair(ctx, names.TalosCA(t.cluster), t.identity.Bundle.Certs.OS.Crt, t.identity.Bundle.Certs.OS.Key)
}

// signerTokens writes the tokens of all pools.
func (t *turn) signerTokens(ctx context.Context) (err error) {
	if t.tokens, err = hosted.SignerTokens(t.cluster, t.joins); err != nil {
		return failed(err)
	}
	_, err = t.writer.Apply(ctx, t.tokens)
	return failed(err)
}

// pair writes a certificate and its key for the signer.
func (t *turn) pair(ctx context.Context, name string, certificate, key []byte) error {
	secret := hosted.Secret(t.cluster, name, names.PurposeSigner)
	secret.Type = corev1.SecretTypeTLS
	secret.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	_, err := t.writer.Apply(ctx, secret)
	return failed(err)
}

// read reads a Secret of the cluster, or nil if there is none.
func (t *turn) read(ctx context.Context, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := t.Client.Get(ctx, client.ObjectKey{Namespace: t.cluster.Namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return secret, nil
}
