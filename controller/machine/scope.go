// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// A scope is one look at one machine.
type scope struct {
	*Controller
	machine *api.TalosMachine
	before  *api.TalosMachine // as it was read
	cluster *api.TalosCluster // nil if it is gone
	pool    *api.NodePool     // nil if it is gone
	words   Words

	place    backend.Place
	location Location
	instance *backend.Instance // as the place showed it in this look
	after    time.Duration     // when to look again, if something asks for it
}

// scope reads what belongs to a machine. What cannot be read is an error, what is gone is not.
func (c *Controller) scope(ctx context.Context, object *api.TalosMachine) (*scope, error) {
	s := &scope{Controller: c, machine: object, before: object.DeepCopy()}
	cluster, pool := &api.TalosCluster{}, &api.NodePool{}
	for _, one := range []struct {
		name api.Name
		into client.Object
		keep func()
	}{
		{object.Spec.ClusterName, cluster, func() { s.cluster = cluster }},
		{object.Spec.PoolName, pool, func() { s.pool = pool }},
	} {
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: string(one.name)}, one.into)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("machine %s: %w", object.Name, err)
		}
		if err == nil {
			one.keep()
		}
	}
	// Words that cannot be read are found out about when the place is to be asked: an end needs none.
	s.words, _ = parseWords(object.Annotations[machines.AnnotationWanted])
	return s, s.disown(ctx)
}

// owner is whom the instance belongs to. The cluster itself says it, as long as it is there.
func (s *scope) owner() backend.Owner {
	if s.cluster != nil {
		return s.Controller.owner(string(s.cluster.UID))
	}
	return s.Controller.owner(s.words.Cluster)
}

// id is the instance in the place's words, or nothing if none is known.
func (s *scope) id() string { return s.machine.Annotations[machines.AnnotationInstance] }

// moment is a time that was written down; zero if it was not.
func (s *scope) moment(annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, s.machine.Annotations[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// settled says whether the place can be believed that an instance is gone: one that was just made may not show yet.
func (s *scope) settled(since time.Time) bool {
	return s.now().After(since.Add(s.place.Traits().Settles + time.Second)) // what was written down has no parts of a second
}

// hold puts the finalizer on before anything is made that would have to be cleaned up.
func (s *scope) hold(ctx context.Context) error {
	if slices.Contains(s.machine.Finalizers, names.Finalizer) {
		return nil
	}
	return s.mark(ctx, func(object *api.TalosMachine) { object.Finalizers = append(object.Finalizers, names.Finalizer) })
}

// mark changes metadata, at once: others rely on it before the next step.
func (s *scope) mark(ctx context.Context, change func(*api.TalosMachine)) error {
	status := s.machine.Status
	before := s.machine.DeepCopy()
	change(s.machine)
	patch := client.MergeFrom(before)
	if !slices.Equal(before.Finalizers, s.machine.Finalizers) || isNews(before, s.machine) {
		// The list is written whole; and what is announced must not be written again by whoever has not seen it yet.
		patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	}
	if err := s.Client.Patch(ctx, s.machine, patch); err != nil {
		return err
	}
	s.before.ObjectMeta = *s.machine.ObjectMeta.DeepCopy()
	s.machine.Status = status // what is to be reported
	return nil
}

// annotate writes annotations down.
func (s *scope) annotate(ctx context.Context, values map[string]string) error {
	return s.mark(ctx, func(object *api.TalosMachine) {
		for key, value := range values {
			metav1.SetMetaDataAnnotation(&object.ObjectMeta, key, value)
		}
	})
}

// report writes the status, if it changed.
func (s *scope) report(ctx context.Context, steps []metav1.Condition) (reconcile.Result, error) {
	ready := api.TalosMachineReady.Ready(steps, s.machine.Generation)
	for _, condition := range append(steps, ready) {
		s.set(condition)
	}
	if err := s.tell(ctx); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: s.next(ready.Status == metav1.ConditionTrue)}, s.write(ctx)
}

// tell writes down what wakes whoever looks after the pool: that the machine works for the first time, and that it counts as
// failed, which nothing else announces.
func (s *scope) tell(ctx context.Context) error {
	seen := machines.See(s.machine)
	why := machines.Unhealthy(s.pool, seen, s.now())
	said, was := s.machine.Annotations[machines.AnnotationUnhealthy]
	first := seen.Available && s.moment(machines.AnnotationJoined).IsZero()
	if !first && said == why && was == (why != "") {
		return nil
	}
	err := s.mark(ctx, func(object *api.TalosMachine) {
		delete(object.Annotations, machines.AnnotationUnhealthy)
		if why != "" {
			metav1.SetMetaDataAnnotation(&object.ObjectMeta, machines.AnnotationUnhealthy, why)
		}
		if first {
			metav1.SetMetaDataAnnotation(&object.ObjectMeta, machines.AnnotationJoined, s.now().UTC().Format(time.RFC3339))
		}
	})
	if err == nil {
		s.announce(first, said, why)
	}
	return err
}

// set sets a condition.
func (s *scope) set(condition metav1.Condition) {
	condition.ObservedGeneration, condition.LastTransitionTime = s.machine.Generation, metav1.Time{}
	// Half a letter would be stored as another one, and then differ from what is said the next time.
	condition.Message = strings.ToValidUTF8(condition.Message[:min(len(condition.Message), longest)], "")
	meta.SetStatusCondition(&s.machine.Status.Conditions, condition)
}

// longest is how long a message may be that others wrote: what it says is said by then.
const longest = 1024

// write writes the status down.
func (s *scope) write(ctx context.Context) error {
	s.machine.Status.ObservedGeneration = s.machine.Generation
	if equality.Semantic.DeepEqual(s.before.Status, s.machine.Status) {
		return nil
	}
	err := s.Client.Status().Patch(ctx, s.machine, client.MergeFrom(s.before))
	if apierrors.IsNotFound(err) {
		return nil // it is gone, and so is its status
	}
	return err
}
