// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/apply"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// tenant brings about what machines need inside of the cluster, and answers the kubelets that ask for certificates.
func (t *turn) tenant(ctx context.Context) (metav1.Condition, error) {
	inside, err := t.Tenants.Client(ctx, t.cluster)
	if apierrors.IsNotFound(err) {
		name, _ := tenant.Kubeconfig(t.cluster)
		return metav1.Condition{}, &material.Waiting{For: fmt.Sprintf("Secret %s with the kubeconfig does not exist yet", name)}
	}
	if err != nil {
		return metav1.Condition{}, err
	}
	if err := grant(ctx, inside, t.cluster); err != nil {
		return metav1.Condition{}, reach(err)
	}
	until, err := t.invite(ctx, inside)
	if err != nil {
		return metav1.Condition{}, reach(err)
	}
	if err := t.activate(ctx, until); err != nil {
		return metav1.Condition{}, err
	}
	if err := t.approve(ctx, inside); err != nil {
		return metav1.Condition{}, reach(err)
	}
	return hosted.Yes(api.ConditionTenantReady, fmt.Sprintf("permissions and the bootstrap tokens of %d pools are there", len(until))), nil
}

// reach says whether an error is an answer of the tenant's API server, or that there was none.
func reach(err error) error {
	if _, answered := errors.AsType[*apierrors.StatusError](err); answered {
		return failed(fmt.Errorf("the cluster's API server refuses: %w", err))
	}
	return fmt.Errorf("the cluster's API server cannot be reached: %w", err)
}

// grant writes the permissions of machines.
func grant(ctx context.Context, inside client.Client, cluster *api.TalosCluster) error {
	writer := apply.New(inside)
	for _, grant := range hosted.Grants(cluster) {
		if grant.Role != nil {
			if _, err := writer.Apply(ctx, grant.Role); err != nil {
				return err
			}
		}
		if _, err := writer.Apply(ctx, grant.Binding); err != nil {
			return err
		}
	}
	return nil
}

// invite writes the bootstrap tokens of all pools, removes those of pools that are gone, and says how long each is good.
func (t *turn) invite(ctx context.Context, inside client.Client) (map[string]time.Time, error) {
	live, err := invited(ctx, inside, t.cluster)
	if err != nil {
		return nil, err
	}
	plan := hosted.BootstrapTokens(t.cluster, t.joins, live, t.now)
	writer := apply.New(inside)
	for _, secret := range plan.Write {
		if _, err := writer.Apply(ctx, secret); err != nil {
			return nil, err
		}
	}
	t.invitedUntil(plan, live)
	return plan.Until, withdraw(ctx, inside, plan.Remove)
}

// invited are the bootstrap tokens that we made for a cluster.
func invited(ctx context.Context, inside client.Client, cluster *api.TalosCluster) ([]corev1.Secret, error) {
	var live corev1.SecretList
	err := inside.List(ctx, &live, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels(hosted.TokenLabels(cluster)))
	return live.Items, err
}

// withdraw removes bootstrap tokens.
func withdraw(ctx context.Context, inside client.Client, tokens []string) error {
	for _, name := range tokens {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}}
		if err := client.IgnoreNotFound(inside.Delete(ctx, secret)); err != nil {
			return err
		}
	}
	return nil
}

// activate marks the join Secret of every pool whose tokens both the signer and the cluster know. It is only now that machines
// of the pool could join.
func (t *turn) activate(ctx context.Context, until map[string]time.Time) error {
	for _, join := range t.joins {
		good, known := until[join.Pool.Name]
		if !known || !hosted.Holds(t.tokens, join) {
			continue
		}
		secret, err := t.read(ctx, names.Join(join.Pool))
		if err != nil {
			return err
		}
		text := good.UTC().Format(time.RFC3339)
		if secret == nil || secret.Annotations[names.AnnotationActiveUntil] == text {
			continue
		}
		before := secret.DeepCopy()
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, names.AnnotationActiveUntil, text)
		if err := t.Client.Patch(ctx, secret, client.MergeFrom(before), client.FieldOwner(names.Owner)); err != nil {
			return failed(err)
		}
	}
	return nil
}
