// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/apply"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/pki"
)

// A turn is one look at a cluster and what follows from it.
type turn struct {
	*Reconciler
	cluster *api.TalosCluster
	now     time.Time
	writer  *apply.Writer
	report  hosted.Report

	// What was seen.
	pools    []api.NodePool
	joins    []hosted.Join
	problems []string
	view     hosted.View
	// What was made of it on the way.
	identity  *pki.Secrets
	tokens    *corev1.Secret
	addresses []netip.Addr
	measured  metrics.Cluster
}

// A verdict is an error with its consequence.
type verdict struct {
	reason string
	err    error
}

// Error is the error.
func (v *verdict) Error() string { return v.err.Error() }

// Unwrap is the error too.
func (v *verdict) Unwrap() error { return v.err }

// reasonOf is the consequence of an error: what has no other could not be read.
func reasonOf(err error) string {
	if given, ok := errors.AsType[*verdict](err); ok {
		return given.reason
	}
	if material.IsWaiting(err) {
		return api.ReasonWaiting
	}
	return api.ReasonUnreadable
}

// failed marks an error of writing.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{api.ReasonFailed, err}
}

// steady is an error in words that are the same the next time: ports and times that differ with every try would have the status
// written each time.
func steady(err error) string {
	text := err.Error()
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Source != nil {
		text = strings.ReplaceAll(text, network.Source.String()+"->", "")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		text = strings.ReplaceAll(text, invalid.Error(), "its certificate is not valid now")
	}
	return text
}

// A phase brings one condition of a cluster about.
type phase struct {
	condition string
	do        func(*turn, context.Context) (metav1.Condition, error)
}

// phases are in the order in which a cluster comes to life. All that follow the first are tried even if one of them fails.
var phases = []phase{
	{api.ConditionSecretsReady, (*turn).secrets},
	{api.ConditionControlPlaneReady, (*turn).controlPlane},
	{api.ConditionTrustReady, (*turn).trust},
	{api.ConditionTenantReady, (*turn).tenant},
}

// run goes through the phases. Without secrets nothing else is touched.
func (t *turn) run(ctx context.Context) {
	t.report.Conditions = append(t.report.Conditions, hosted.PoolsReady(t.pools, t.problems))
	for _, phase := range phases {
		condition, err := phase.do(t, ctx)
		if err != nil {
			condition = hosted.No(phase.condition, reasonOf(err), steady(err))
		}
		t.report.Conditions = append(t.report.Conditions, condition)
		if err != nil && phase.condition == api.ConditionSecretsReady {
			break
		}
	}
	if !t.cluster.DeletionTimestamp.IsZero() {
		left := hosted.Remains{}
		for _, pool := range t.pools {
			left.Pools = append(left.Pools, pool.Name)
		}
		t.report.Conditions = append(t.report.Conditions, hosted.Remove(t.cluster, left, t.now).Condition)
	}
}

// observe reads what lives in the management cluster: pools, their tokens, and the control plane's object.
func (t *turn) observe(ctx context.Context) error {
	var pools api.NodePoolList
	if err := t.Client.List(ctx, &pools, client.InNamespace(t.cluster.Namespace)); err != nil {
		return err
	}
	for _, pool := range pools.Items {
		if string(pool.Spec.ClusterName) == t.cluster.Name {
			t.pools = append(t.pools, pool)
		}
	}
	t.report.Pools, t.report.PoolsSeen = t.pools, true
	var secrets corev1.SecretList
	if err := t.Client.List(ctx, &secrets, client.InNamespace(t.cluster.Namespace),
		client.MatchingLabels{names.LabelPurpose: names.PurposeJoin, names.LabelCluster: t.cluster.Name}); err != nil {
		return err
	}
	t.joins, t.problems = hosted.Joins(t.pools, secrets.Items)
	if t.cluster.Spec.ControlPlane.Kamaji == nil {
		t.report.Endpoint = t.cluster.Spec.Endpoint
		return nil
	}
	live, err := t.part(ctx, hosted.ControlPlaneKind)
	if err == nil {
		t.view, err = hosted.ReadControlPlane(live)
	}
	t.report.KubernetesVersion, t.report.Endpoint = t.view.Runs, t.cluster.Spec.Endpoint
	if t.report.Endpoint == nil {
		t.report.Endpoint = t.view.Endpoint
	}
	return err
}

// hold puts the finalizer on a cluster before anything is made for it.
func (t *turn) hold(ctx context.Context) error {
	before := t.cluster.DeepCopy()
	if !t.cluster.DeletionTimestamp.IsZero() || !controllerutil.AddFinalizer(t.cluster, names.Finalizer) {
		return nil
	}
	return t.Client.Patch(ctx, t.cluster, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(names.Owner))
}

// tell writes the status, if it says something new.
func (t *turn) tell(ctx context.Context) error {
	before := t.cluster.DeepCopy()
	t.cluster.Status = hosted.Status(t.cluster, t.report, t.now)
	if equality.Semantic.DeepEqual(before.Status, t.cluster.Status) {
		return nil
	}
	moments, patch := hosted.Moments(before.Status, t.cluster.Status), client.MergeFrom(before)
	if len(moments) > 0 {
		// Whoever has not seen yet that people heard of it, because a cache is behind, must not tell them again.
		patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	}
	if err := t.Client.Status().Patch(ctx, t.cluster, patch, client.FieldOwner(names.Owner)); err != nil {
		return client.IgnoreNotFound(err)
	}
	t.announce(moments...)
	return nil
}
