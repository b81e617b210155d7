// SPDX-License-Identifier: Apache-2.0

package direct

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	plan "minos.dev/minos/plan/pool"
)

// apply does what was decided: marks first, then deletions, then what is new.
func (m *Machines) apply(ctx context.Context, wanted pool.Wanted, objects []api.TalosMachine, todo machines.Plan) error {
	find := func(name string) *api.TalosMachine {
		return &objects[slices.IndexFunc(objects, func(o api.TalosMachine) bool { return o.Name == name })]
	}
	for _, one := range todo.Keep {
		if err := m.keep(ctx, wanted.Pool, find(one.Name), one.Reason); err != nil {
			return err
		}
	}
	for _, one := range todo.Delete {
		if err := m.delete(ctx, wanted.Pool, find(one.Name), one.Reason); err != nil {
			return err
		}
	}
	for _, name := range todo.Create {
		if err := m.create(ctx, wanted, name, todo.Why); err != nil {
			return err
		}
	}
	return nil
}

// keep marks a machine that failed and stays for study.
func (m *Machines) keep(ctx context.Context, of *api.NodePool, object *api.TalosMachine, reason string) error {
	before := object.DeepCopy()
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, machines.AnnotationKept, reason)
	if err := m.Client.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("mark machine %s as kept: %w", object.Name, err)
	}
	m.tell(of, object, notice{corev1.EventTypeWarning, "Kept", fmt.Sprintf("%s failed and is kept for study until somebody deletes it: %s", object.Name, reason)})
	m.judge(of, object, metrics.Kept)
	return nil
}

// create makes one. Its name was decided before: whether an answer that is lost was a yes shows in the next list.
func (m *Machines) create(ctx context.Context, wanted pool.Wanted, name, why string) error {
	words, err := machine.Words{
		Machine: wanted.Pool.Spec.Machine, Image: wanted.Image, Services: wanted.Services, Cluster: string(wanted.Cluster.UID),
	}.Text()
	if err != nil {
		return err
	}
	object := &api.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: wanted.Pool.Namespace, Name: name, Labels: names.Labels(wanted.Cluster.Name, wanted.Pool.Name), Finalizers: []string{names.Finalizer},
			Annotations: map[string]string{machines.AnnotationWanted: words, pool.AnnotationRolls: wanted.Rolls},
		},
		Spec: api.TalosMachineSpec{
			ClusterName: api.Name(wanted.Cluster.Name), PoolName: api.Name(wanted.Pool.Name), LocationRef: wanted.Pool.Spec.LocationRef, Revision: api.Name(wanted.Revision),
		},
	}
	if err := controllerutil.SetControllerReference(wanted.Pool, object, m.Client.Scheme()); err != nil {
		return err
	}
	err = m.Client.Create(ctx, object, client.FieldOwner(names.Owner))
	if apierrors.IsAlreadyExists(err) {
		return nil // somebody who saw the same was faster
	}
	if err != nil {
		return fmt.Errorf("make machine %s: %w", name, err)
	}
	m.tell(wanted.Pool, object, notice{corev1.EventTypeNormal, "Created", fmt.Sprintf("%s: %s", name, why)})
	return nil
}

// revise tells machines of a revision that Talos takes while it runs: one that differs from theirs in nothing that rolls them.
func (m *Machines) revise(ctx context.Context, wanted pool.Wanted, objects []api.TalosMachine) error {
	for at := range objects {
		object := &objects[at]
		if string(object.Spec.Revision) == wanted.Revision || object.Annotations[pool.AnnotationRolls] != wanted.Rolls || !object.DeletionTimestamp.IsZero() {
			continue
		}
		before := object.DeepCopy()
		object.Spec.Revision = api.Name(wanted.Revision)
		if err := m.Client.Patch(ctx, object, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("tell machine %s of revision %s: %w", object.Name, wanted.Revision, err)
		}
	}
	return nil
}

// isUpToDate says whether a machine has the newest revision: it was given it, or will be with its instance.
func isUpToDate(object *api.TalosMachine, revision string) bool {
	given, was := object.Annotations[machines.AnnotationRevision]
	return given == revision || !was && string(object.Spec.Revision) == revision
}

// seenOf is what the pool says of its machines: as they were seen, before anything was done.
func seenOf(wanted pool.Wanted, objects []api.TalosMachine, todo machines.Plan, desired int) pool.Seen {
	seen := pool.Seen{Desired: int32(desired), Replicas: int32(todo.Counts.Existing), Ready: int32(todo.Counts.Available)}
	for at := range objects {
		object := &objects[at]
		one := machines.See(object)
		switch isNewest := isUpToDate(object, wanted.Revision); {
		case !isNewest || one.Kept:
		case one.Deleting:
			seen.Passing++
		default:
			seen.UpToDate++
		}
		seen.Machines = append(seen.Machines, saidOf(object, one))
	}
	if todo.Held != "" {
		seen.Machines = append(seen.Machines, plan.Machine{Failed: true, Waits: "somebody to look", Why: todo.Held})
	}
	slices.SortFunc(seen.Machines, func(a, b plan.Machine) int { return strings.Compare(a.Name, b.Name) })
	return seen
}

// saidOf is what there is to say about one.
func saidOf(object *api.TalosMachine, one machines.Machine) plan.Machine {
	said := plan.Machine{Name: one.Name, Ready: one.Available, Failed: one.Failed != "" || one.Kept, Refused: one.Refused}
	if one.Available {
		return said
	}
	step, why, _ := strings.Cut(one.Step, ": ")
	said.Waits, said.Why = step, strings.ReplaceAll(why, object.Name, "the machine")
	if one.Deleting {
		said.Waits, said.Why = "its end", ""
	}
	return said
}
