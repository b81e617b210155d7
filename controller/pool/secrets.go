// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
	"minos.dev/minos/talos/pki"
)

// secretType is that of Secrets that Cluster API reads.
const secretType = "cluster.x-k8s.io/secret"

// using notes that a Secret of the pool's namespace is read.
func (t *turn) using(name string) {
	t.read = append(t.read, types.NamespacedName{Namespace: t.pool.Namespace, Name: name})
}

// join makes the pool's tokens, once, and gathers what machines are configured with. The cluster's controller makes the tokens
// known to the cluster; until then the pool waits.
func (t *turn) join(ctx context.Context) (*plan.Refusal, error) {
	if err := t.tokens(ctx); err != nil {
		return nil, err
	}
	kubeconfig, _ := tenant.Kubeconfig(t.cluster)
	for _, name := range []string{names.Join(t.pool), names.Identity(t.cluster), names.KubernetesCA(t.cluster), kubeconfig} {
		t.using(name)
	}
	bundle, err := material.Bundle(ctx, t.Secrets, t.cluster, t.pool)
	if material.IsWaiting(err) {
		return plan.Refuse(api.ReasonWaiting, "waits for TalosCluster %s: %s%s", t.cluster.Name, err.Error(), because(t.cluster)), nil
	}
	if err != nil {
		return nil, err
	}
	identity, err := material.Identity(ctx, t.Secrets, t.cluster)
	if err != nil {
		return nil, err
	}
	t.secrets = fleet.Secrets{Bundle: bundle, Accepted: config.Accepted{
		TalosCAs: identity.Accepted(pki.PartTalosCA), KubernetesCAs: identity.Accepted(pki.PartKubernetesCA),
		ServiceAccountKeys: identity.Accepted(pki.PartServiceAccount),
	}}
	if t.unsettled != nil {
		t.say(t.unsettled.Condition(api.ConditionClusterReady))
		return nil, nil
	}
	if words := because(t.cluster); words != "" {
		// Machines that have all they need are made all the same: they join when the cluster answers.
		t.say(plan.Refuse(api.ReasonWaiting, "TalosCluster %s is not ready%s", t.cluster.Name, words).Condition(api.ConditionClusterReady))
		return nil, nil
	}
	t.say(plan.True(api.ConditionClusterReady, "TalosCluster %s%s", t.cluster.Name, t.held))
	return nil, nil
}

// tokens makes the join Secret if it is known not to exist.
func (t *turn) tokens(ctx context.Context) error {
	found := &corev1.Secret{}
	err := t.Secrets.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: names.Join(t.pool)}, found)
	if err == nil && (!metav1.IsControlledBy(found, t.pool) || found.Labels[names.LabelPurpose] != names.PurposeJoin) {
		return fmt.Errorf("the Secret %s belongs to somebody else: delete or rename it, so that the pool can have its tokens there", found.Name)
	}
	if !apierrors.IsNotFound(err) {
		return wrap(err, "read Secret %s", names.Join(t.pool))
	}
	secret := t.secret(names.Join(t.pool), names.PurposeJoin)
	secret.Type = corev1.SecretTypeOpaque
	secret.Data = map[string][]byte{names.JoinToken: newToken(), names.JoinBootstrap: newToken()}
	made, err := t.writer.Create(ctx, secret)
	if made {
		t.event(corev1.EventTypeNormal, "TokensMade", "made the tokens of the pool, in Secret "+secret.Name)
	}
	return wrap(err, "make Secret %s", secret.Name)
}

// newToken is a token in the form of Kubernetes: six and sixteen letters and digits, by chance.
func newToken() []byte {
	text := strings.ToLower(rand.Text() + rand.Text())
	return []byte(text[:6] + "." + text[6:22])
}

// secret begins a Secret of the pool that is never changed.
func (t *turn) secret(name, purpose string) *corev1.Secret {
	labels, immutable := names.Purpose(t.cluster.Name, t.pool.Name, purpose), true
	labels[names.LabelClusterAPI] = t.cluster.Name
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.pool.Namespace, Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{virtual.Owner(t.pool)},
		},
		Type: secretType, Immutable: &immutable,
	}
}

// configure renders the configuration and keeps it as a revision.
func (t *turn) configure(ctx context.Context) (*plan.Refusal, error) {
	refusal, err := t.values(ctx)
	if refusal != nil || err != nil {
		return refusal, err
	}
	made, err := plan.Configure(t.fleet, t.pool, t.image, t.secrets)
	if err != nil {
		return plan.Refuse(api.ReasonInvalid, "%s", err.Error()), nil
	}
	t.configured = made
	t.wanted.Revision, t.wanted.Rolls, t.wanted.Configuration = names.Revision(t.pool, made.Revision), made.Rolls, made.Text
	if err := t.keep(ctx); err != nil {
		return nil, err
	}
	t.say(plan.True(api.ConditionConfigurationReady, "revision %s, Talos %s", made.Revision, t.cluster.Spec.TalosVersion))
	return nil, nil
}

// values reads the Secrets that the role's services refer to, of the pool's own namespace.
func (t *turn) values(ctx context.Context) (*plan.Refusal, error) {
	t.secrets.Values = map[api.SecretKeyReference]string{}
	for _, reference := range fleet.References(t.role) {
		t.using(string(reference.Name))
		secret := &corev1.Secret{}
		err := t.Secrets.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: string(reference.Name)}, secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read Secret %s: %w", reference.Name, err)
		}
		value, ok := secret.Data[reference.Key]
		if !ok {
			return plan.Refuse(api.ReasonWaiting, "waits for Secret %s with the key %s in namespace %s, which role %s refers to", reference.Name, reference.Key, t.pool.Namespace, t.role.Name), nil
		}
		t.secrets.Values[reference] = string(value)
	}
	return nil, nil
}

// keep writes the revision's Secret, unless it is there.
func (t *turn) keep(ctx context.Context) error {
	found := &corev1.Secret{}
	err := t.Secrets.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: t.wanted.Revision}, found)
	if err == nil {
		isSame, err := t.holds(found)
		if err != nil || isSame {
			return err
		}
		// It differs in what machines are born with and roll for as little. As it cannot be changed, it is made anew.
		switch err := t.delete(ctx, found); {
		case apierrors.IsConflict(err):
			return nil // somebody has done it, and what was read is of before
		case err != nil:
			return err
		}
	} else if !apierrors.IsNotFound(err) {
		return fmt.Errorf("read Secret %s: %w", t.wanted.Revision, err)
	}
	secret := t.secret(t.wanted.Revision, names.PurposeConfiguration)
	secret.Data = map[string][]byte{names.ConfigurationKey: t.wanted.Configuration}
	made, err := t.writer.Create(ctx, secret)
	if made {
		t.event(corev1.EventTypeNormal, "RevisionMade", "made revision "+t.configured.Revision+" of the machine configuration")
	}
	return wrap(err, "make Secret %s", secret.Name)
}

// holds says whether a Secret holds all that the configuration says now. One that holds something else than its name says is an
// error.
func (t *turn) holds(secret *corev1.Secret) (bool, error) {
	text := secret.Data[names.ConfigurationKey]
	if has, err := plan.Named(t.pool, text); err != nil || has != t.configured.Revision {
		return false, fmt.Errorf("the Secret %s does not hold what its name says: delete it, so that it is made anew", secret.Name)
	}
	whole, err := plan.Revision(text)
	return whole == t.configured.Whole, err
}

// boot finds out what new machines of the pool boot.
func (t *turn) boot() (err error) {
	if t.image, err = plan.Image(t.cluster, t.pool, t.role); err != nil {
		return err
	}
	if t.wanted.Services, err = plan.HasServices(t.role); err != nil {
		return err
	}
	address, err := t.image.URL(image.Disk)
	t.wanted.Image = backend.Image{URL: address, Version: t.image.Version, Schematic: t.image.Schematic}
	return err
}

// wrap says what an error was met at.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
