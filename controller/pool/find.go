// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/talos/fleet"
)

// findCluster finds the cluster that the pool names. Nothing is made before it exists and its API server has an address.
func (t *turn) findCluster(ctx context.Context) (*plan.Refusal, error) {
	name := string(t.pool.Spec.ClusterName)
	found := &api.TalosCluster{}
	err := t.Client.Get(ctx, client.ObjectKey{Namespace: t.pool.Namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return plan.Refuse(api.ReasonWaiting, "waits for TalosCluster %s, which does not exist in namespace %s", name, t.pool.Namespace), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read TalosCluster %s: %w", name, err)
	}
	if !found.DeletionTimestamp.IsZero() {
		return plan.Refuse(api.ReasonDeleting, "TalosCluster %s is being deleted, and waits for this pool to be deleted", name), nil
	}
	t.cluster = found.DeepCopy()
	if _, err := fleet.Endpoint(found); err != nil || found.Status.KubernetesVersion == "" {
		return plan.Refuse(api.ReasonWaiting, "waits for TalosCluster %s, whose API server does not run yet%s", name, because(found)), nil
	}
	kubelet, held, err := plan.Kubelet(found)
	if err != nil {
		return plan.Refuse(api.ReasonInvalid, "%s", err.Error()), nil
	}
	if held {
		t.held = fmt.Sprintf("; kubelets stay at %s until the API server runs %s", kubelet, found.Spec.KubernetesVersion)
	}
	if refusal := t.settle(kubelet); refusal != nil {
		return refusal, nil
	}
	if !meta.IsStatusConditionTrue(t.pool.Status.Conditions, api.ConditionClusterReady) {
		// Or else it would say that the cluster is waited for while something else is.
		t.say(metav1.Condition{
			Type: api.ConditionClusterReady, Status: metav1.ConditionUnknown, Reason: api.ReasonNotYetKnown,
			Message: fmt.Sprintf("TalosCluster %s runs; whether machines can join is looked at when role and place are settled", name),
		})
	}
	return nil, nil
}

// settle takes over the versions that the pool's machines get. It refuses where there are none to go on with.
func (t *turn) settle(kubelet api.KubernetesVersion) *plan.Refusal {
	settled := plan.Settle(t.cluster, kubelet, t.pool)
	if settled.Talos == "" {
		return settled.Refusal
	}
	t.unsettled = settled.Refusal
	if settled.Doubt != "" {
		t.held += "; " + settled.Doubt
	}
	t.cluster.Spec.TalosVersion, t.cluster.Spec.KubernetesVersion = settled.Talos, settled.Kubernetes
	return nil
}

// because is what a cluster says of why it is not ready.
func because(cluster *api.TalosCluster) string {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || ready.Message == "" {
		return ""
	}
	return ": " + ready.Message
}

// findLocation finds the place that the pool names.
func (t *turn) findLocation(ctx context.Context) (*plan.Refusal, error) {
	reference := t.pool.Spec.LocationRef
	at := plan.Placement{}
	var err error
	if at.Spec, at.Conditions, err = t.place(ctx, t.pool); err != nil {
		return nil, err
	}
	t.location = at.Spec
	namespace := &corev1.Namespace{}
	if err := t.Client.Get(ctx, client.ObjectKey{Name: t.pool.Namespace}, namespace); err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", t.pool.Namespace, err)
	}
	at.Namespace = namespace.Labels
	if plan.IsShared(at.Spec) { // or thousands would be looked at for each of them
		pools := &api.NodePoolList{}
		if err := t.Client.List(ctx, pools, client.MatchingFields{index.Location: index.Of(t.pool)}); err != nil {
			return nil, fmt.Errorf("list the pools of %s %s: %w", reference.Kind, reference.Name, err)
		}
		at.Pools = pools.Items
	}
	t.grant = plan.Locate(t.pool, at)
	if t.grant.Held {
		return t.grant.Refusal, nil
	}
	return nil, nil
}

// place reads the place that a pool names, of one of the two kinds. One that does not exist is nil.
func (r *Reconciler) place(ctx context.Context, of *api.NodePool) (spec *api.LocationSpec, conditions []metav1.Condition, err error) {
	reference := of.Spec.LocationRef
	if reference.Kind == api.KindClusterLocation {
		found := &api.ClusterLocation{}
		err = r.Client.Get(ctx, client.ObjectKey{Name: string(reference.Name)}, found)
		spec, conditions = &found.Spec, found.Status.Conditions
	} else {
		found := &api.Location{}
		err = r.Client.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: string(reference.Name)}, found)
		spec, conditions = &found.Spec, found.Status.Conditions
	}
	if err != nil {
		return nil, nil, wrap(client.IgnoreNotFound(err), "read %s %s", reference.Kind, reference.Name)
	}
	return spec, conditions, nil
}

// placed says what the place grants. A pool that has machines goes on with those; one without makes none where none is granted.
func (t *turn) placed(context.Context) (*plan.Refusal, error) {
	if len(t.missing) > 0 {
		return plan.Refuse(api.ReasonNotFound, "virtual machines cannot be made, because the management cluster does not serve %s: install what is missing", strings.Join(t.missing, ", ")), nil
	}
	if t.grant.Refusal == nil {
		t.say(plan.True(api.ConditionLocationReady, "%s %s", t.pool.Spec.LocationRef.Kind, t.pool.Spec.LocationRef.Name))
		return nil, nil
	}
	t.say(t.grant.Refusal.Condition(api.ConditionLocationReady))
	if t.grant.Room == 0 && t.have() == 0 && plan.Claim(t.pool) > 0 {
		return t.grant.Refusal, nil
	}
	return nil, nil
}

// have is how many machines the pool has, or is about to have.
func (t *turn) have() int32 {
	if t.live.Deployment != nil {
		return t.live.Desired()
	}
	if t.pool.Status.Replicas != nil {
		return *t.pool.Status.Replicas
	}
	return 0
}

// findRole finds the role, and whether the pool may have it.
func (t *turn) findRole(ctx context.Context) (*plan.Refusal, error) {
	roles := &api.NodeRoleList{}
	if err := t.Client.List(ctx, roles); err != nil {
		return nil, fmt.Errorf("list the roles: %w", err)
	}
	objects := []load.Object{t.cluster, t.pool, t.locationObject()}
	for at := range roles.Items {
		objects = append(objects, &roles.Items[at])
	}
	var err error
	if t.fleet, err = fleet.New(objects); err != nil {
		return nil, err
	}
	if t.role, err = t.fleet.Role(t.pool); err != nil {
		return plan.Refuse(api.ReasonNotFound, "%s", err.Error()), nil
	}
	siblings := &api.NodePoolList{}
	if err := t.Client.List(ctx, siblings, client.InNamespace(t.pool.Namespace), client.MatchingFields{index.Cluster: t.cluster.Name}); err != nil {
		return nil, fmt.Errorf("list the pools of TalosCluster %s: %w", t.cluster.Name, err)
	}
	if refusal := plan.Play(t.pool, t.role, t.cluster, siblings.Items); refusal != nil {
		return refusal, nil
	}
	if refusal, err := t.hold(ctx); refusal != nil || err != nil {
		return refusal, err
	}
	if err := t.boot(); err != nil {
		return plan.Refuse(api.ReasonInvalid, "%s", err.Error()), nil
	}
	t.say(plan.True(api.ConditionRoleReady, "role %s", t.role.Name))
	return nil, nil
}

// locationObject is the place as an object of its kind.
func (t *turn) locationObject() load.Object {
	meta := metav1.ObjectMeta{Name: string(t.pool.Spec.LocationRef.Name)}
	if t.pool.Spec.LocationRef.Kind == api.KindClusterLocation {
		return &api.ClusterLocation{ObjectMeta: meta, Spec: *t.location}
	}
	meta.Namespace = t.pool.Namespace
	return &api.Location{ObjectMeta: meta, Spec: *t.location}
}
