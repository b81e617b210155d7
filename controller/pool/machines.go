// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// look sees what there is of the pool's machines, where Cluster API looks after them.
func (t *turn) look(ctx context.Context) (err error) {
	if t.pool.Spec.Machine.KubeVirt == nil {
		return nil
	}
	if t.missing, err = t.watching.ensure(t.Client, virtual.Kinds(t.pool), t.noticed.watch); err != nil || len(t.missing) > 0 {
		return err
	}
	if t.live, err = observe(ctx, t.cached(), t.pool); err != nil {
		return err
	}
	if t.live.Deployment != nil {
		seen := t.live.Seen()
		t.seen = &seen
	}
	return nil
}

// observe reads what there is of a pool.
func observe(ctx context.Context, from client.Reader, pool *api.NodePool) (live virtual.Live, err error) {
	deployment := empty(virtual.DeploymentKind)
	err = from.Get(ctx, client.ObjectKeyFromObject(pool), deployment)
	if client.IgnoreNotFound(err) != nil {
		return live, fmt.Errorf("read MachineDeployment %s: %w", pool.Name, err)
	}
	if err == nil {
		live.Deployment = deployment
	}
	for _, each := range []struct {
		kind schema.GroupVersionKind
		into *[]unstructured.Unstructured
	}{{virtual.SetKind, &live.Sets}, {virtual.MachineKind, &live.Machines}, {virtual.VirtualMachineKind, &live.Virtual}} {
		if *each.into, err = listOf(ctx, from, pool, each.kind); err != nil {
			return live, err
		}
	}
	return live, nil
}

// listOf lists the objects of a kind that have the pool's labels.
func listOf(ctx context.Context, from client.Reader, pool *api.NodePool, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := from.List(ctx, found, client.InNamespace(pool.Namespace), labelsOf(pool)); err != nil {
		return nil, fmt.Errorf("list the %ss of the pool: %w", kind.Kind, err)
	}
	return found.Items, nil
}

// labelsOf finds what belongs to a pool.
func labelsOf(pool *api.NodePool) client.MatchingLabels {
	return client.MatchingLabels(names.Labels(string(pool.Spec.ClusterName), pool.Name))
}

// empty is an object of a kind.
func empty(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// make has the machines made.
func (t *turn) make(ctx context.Context) (*plan.Refusal, error) {
	t.wanted.Cluster, t.wanted.Pool, t.wanted.Role, t.wanted.Location = t.cluster, t.pool, t.role, *t.location
	t.wanted.Replicas, t.wanted.Budget = t.grant.Of(plan.Claim(t.pool), t.have()), plan.BudgetOf(t.cluster, t.pool, t.role)
	if t.pool.Spec.Machine.KubeVirt != nil {
		return t.makeVirtual(ctx)
	}
	if t.Direct == nil {
		return plan.Refuse(api.ReasonInvalid, "%s machines are not supported here: this operator has no backend for them", t.pool.Spec.Machine.Member()), nil
	}
	seen, err := t.Direct.Reconcile(ctx, t.wanted)
	if err != nil {
		return nil, err
	}
	t.seen = &seen
	return nil, t.cleanDirect(ctx)
}

// makeVirtual has them made by Cluster API.
func (t *turn) makeVirtual(ctx context.Context) (*plan.Refusal, error) {
	if t.live.Deployment != nil && !metav1.IsControlledBy(t.live.Deployment, t.pool) {
		return plan.Refuse(api.ReasonDenied, "MachineDeployment %s exists and belongs to somebody else: give the pool another name, or remove it", t.pool.Name), nil
	}
	if t.live.Deployment != nil && !t.live.Deployment.GetDeletionTimestamp().IsZero() {
		return plan.Refuse(api.ReasonDeleting, "somebody deleted MachineDeployment %s, and its machines go with it: it is made anew when it is gone", t.pool.Name), nil
	}
	size, err := t.size(ctx)
	if err != nil {
		return nil, err
	}
	t.objects, err = virtual.For(virtual.Input{
		Cluster: t.cluster, Pool: t.pool, Role: t.role, Location: *t.location, Revision: t.wanted.Revision, Configuration: t.wanted.Configuration,
		Granted: t.wanted.Replicas, Have: t.have(), Kept: t.live.Kept(), Size: size, Budget: t.wanted.Budget,
	})
	if err != nil {
		return plan.Refuse(api.ReasonInvalid, "%s", err.Error()), nil
	}
	if err := t.applyVirtual(ctx); err != nil {
		if apierrors.IsConflict(err) {
			return plan.Refuse(api.ReasonFailed, "%s: somebody else has set it; remove it there, or change the pool to the same", err.Error()), nil
		}
		return nil, err
	}
	t.live = t.live.With(t.objects.Deployment)
	seen := t.live.Seen()
	t.seen = &seen
	return nil, t.clean(ctx)
}

// applyVirtual makes the objects be as wanted, in their order.
func (t *turn) applyVirtual(ctx context.Context) error {
	if t.objects.Trust != nil {
		if _, err := t.writer.Apply(ctx, t.objects.Trust); err != nil {
			return err
		}
	}
	if err := t.ensure(ctx, t.objects.Template); err != nil {
		return err
	}
	if t.objects.Bootstrap != nil {
		if err := t.ensure(ctx, t.objects.Bootstrap); err != nil {
			return err
		}
	}
	if err := t.takeReplicas(ctx); err != nil {
		return err
	}
	if _, err := t.writer.Apply(ctx, t.objects.Deployment); err != nil {
		return err
	}
	t.cause = t.live.Rolls(t.objects.Deployment)
	_, err := t.writer.Apply(ctx, t.objects.Health)
	return err
}

// ensure makes an object whose name says what matters of its content. One of the name with another content differs in what is
// for new machines only: as it cannot be changed, it is made anew, and machines that are there do not notice.
func (t *turn) ensure(ctx context.Context, wanted *unstructured.Unstructured) error {
	found := empty(wanted.GroupVersionKind())
	err := t.cached().Get(ctx, client.ObjectKeyFromObject(wanted), found)
	switch {
	case err == nil && found.GetAnnotations()[names.AnnotationApplied] == wanted.GetAnnotations()[names.AnnotationApplied]:
		return nil
	case err == nil:
		if err := t.delete(ctx, found); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	_, err = t.writer.Create(ctx, wanted.DeepCopy())
	return wrap(err, "make %s %s", wanted.GetKind(), wanted.GetName())
}

// delete removes an object that was looked at, and no other of its name.
func (r *Reconciler) delete(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := r.Client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return wrap(client.IgnoreNotFound(err), "remove %s", object.GetName())
}

// takeReplicas takes the number of machines back from the autoscaler, in the moment when a pool is autoscaled no more. It is the
// only field that is taken from somebody: that was agreed when the pool said that it decides itself.
func (t *turn) takeReplicas(ctx context.Context) error {
	_, fixed, _ := unstructured.NestedInt64(t.objects.Deployment.Object, "spec", "replicas")
	if !fixed || !t.live.Autoscaled() {
		return nil
	}
	err := t.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(t.objects.Deployment.DeepCopy()), client.FieldOwner(names.Owner), client.ForceOwnership)
	return wrap(err, "set the replicas of MachineDeployment %s", t.pool.Name)
}

// size is that of a machine: as declared, or as the instance type says where that can be read.
func (t *turn) size(ctx context.Context) (*api.Resources, error) {
	declared := t.pool.Spec.Machine.KubeVirt.Size
	if declared.Resources != nil {
		return declared.Resources, nil
	}
	if missing, err := t.watching.ensure(t.Client, map[schema.GroupVersionKind]string{virtual.InstancetypeKind: "KubeVirt"}, labelled); err != nil || len(missing) > 0 {
		return nil, err
	}
	found := empty(virtual.InstancetypeKind)
	if err := t.cached().Get(ctx, client.ObjectKey{Name: declared.InstanceType}, found); err != nil {
		return nil, wrap(client.IgnoreNotFound(err), "read the instance type %s", declared.InstanceType)
	}
	cpu, _, _ := unstructured.NestedInt64(found.Object, "spec", "cpu", "guest")
	guest, _, _ := unstructured.NestedString(found.Object, "spec", "memory", "guest")
	memory, err := resource.ParseQuantity(guest)
	if err != nil || cpu == 0 {
		return nil, nil // an instance type in a form of its own: what it offers is not known
	}
	return &api.Resources{CPU: *resource.NewQuantity(cpu, resource.DecimalSI), Memory: memory}, nil
}
