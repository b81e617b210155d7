// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// A leaving is what is seen of a machine that ends.
type leaving struct {
	machines.Ending
	tenant  client.Client
	node    *corev1.Node
	pods    []corev1.Pod
	trouble error // why the place could not say or do something
}

// end brings the end of a machine a step closer. What was done shows in what is seen the next time.
func (s *scope) end(ctx context.Context) (reconcile.Result, error) {
	if !slices.Contains(s.machine.Finalizers, names.Finalizer) {
		return reconcile.Result{}, nil // others have yet to let it go
	}
	seen, err := s.leaving(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	step, why := machines.End(seen.Ending, s.now())
	if step == machines.EndRelease {
		return reconcile.Result{}, client.IgnoreNotFound(s.release(ctx))
	}
	err = s.take(ctx, step, seen)
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err()
	}
	if err == nil {
		err = seen.trouble
	}
	message := fmt.Sprintf("%s: %s", step, why)
	if err != nil {
		message += fmt.Sprintf("; it is tried again after: %v", plain(err))
	}
	s.set(metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: api.ReasonDeleting, Message: message})
	after := joining
	if err != nil {
		after = max(after, backend.After(err))
	}
	return reconcile.Result{RequeueAfter: after}, s.write(ctx)
}

// release lets the object go.
func (s *scope) release(ctx context.Context) error {
	return s.mark(ctx, func(object *api.TalosMachine) {
		object.Finalizers = slices.DeleteFunc(object.Finalizers, func(f string) bool { return f == names.Finalizer })
	})
}

// leaving looks at a machine that ends.
func (s *scope) leaving(ctx context.Context) (*leaving, error) {
	seen := &leaving{Ending: machines.Ending{
		Since: s.machine.DeletionTimestamp.Time, Drain: machines.DrainTimeout(s.cluster, s.pool), Patience: s.Patience,
		Absent: s.cluster == nil,
	}}
	if seen.Patience == 0 {
		seen.Patience = Patience
	}
	var err error
	if seen.Instance, err = s.instanceEnd(ctx); apiError(err) {
		return nil, err
	}
	seen.trouble = err
	if err := s.leavingNode(ctx, seen); err != nil {
		seen.Unanswered = plain(err)
		// A cluster that is itself on its way out and has no credentials any more will not answer again.
		seen.Absent = seen.Absent || apierrors.IsNotFound(err) && !s.cluster.DeletionTimestamp.IsZero()
	}
	return seen, nil
}

// leavingNode looks at the Node and at the pods on it.
func (s *scope) leavingNode(ctx context.Context, seen *leaving) error {
	tenant, node, err := s.node(ctx)
	if err != nil {
		return err
	}
	if node == nil || s.isForeign(node) {
		return nil
	}
	ready, _ := readiness(node)
	seen.tenant, seen.node = tenant, node
	seen.Node, seen.Cordoned, seen.Silent = true, node.Spec.Unschedulable, ready == metav1.ConditionUnknown
	if seen.Instance != machines.InstanceThere {
		return nil // nobody is there to end pods
	}
	var pods corev1.PodList
	err = tenant.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name})
	s.answered(err)
	if err != nil {
		return err
	}
	for at := range pods.Items {
		pod := &pods.Items[at]
		if !machines.Leaves(pod) {
			continue
		}
		seen.pods = append(seen.pods, *pod)
		seen.Pods++
		if !pod.DeletionTimestamp.IsZero() {
			seen.Ending.Ending++
		}
	}
	return nil
}

// take takes a step.
func (s *scope) take(ctx context.Context, step machines.EndStep, seen *leaving) error {
	switch step {
	case machines.EndCordon:
		before := seen.node.DeepCopy()
		seen.node.Spec.Unschedulable = true
		return seen.tenant.Patch(ctx, seen.node, client.MergeFrom(before))
	case machines.EndEvict:
		return s.evict(ctx, seen)
	case machines.EndDeleteInstance:
		if s.place == nil || s.id() == "" {
			return nil // what cannot be named is looked for again
		}
		ctx, cancel := context.WithTimeout(ctx, calling)
		defer cancel()
		return s.place.Delete(ctx, s.owner(), s.id())
	case machines.EndDeleteNode:
		return client.IgnoreNotFound(seen.tenant.Delete(ctx, seen.node, client.Preconditions{UID: &seen.node.UID}))
	}
	return nil
}

// evict asks every pod to leave that is not on its way. One that a budget holds is asked again the next time.
func (s *scope) evict(ctx context.Context, seen *leaving) error {
	config, err := s.Tenants.Config(ctx, s.cluster)
	if err != nil {
		return err
	}
	clients, err := coreclient.NewForConfig(config)
	if err != nil {
		return err
	}
	for at := range seen.pods {
		pod := &seen.pods[at]
		if !pod.DeletionTimestamp.IsZero() {
			continue
		}
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
		// Without retries: a client would wait for a budget by itself, and all other pods with it.
		err := clients.RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
			Body(eviction).MaxRetries(0).Do(ctx).Error()
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsTooManyRequests(err) {
			return fmt.Errorf("evict pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// instanceEnd says how far the end of the instance is. What the place cannot say is no end.
func (s *scope) instanceEnd(ctx context.Context) (machines.InstanceEnd, error) {
	asked := s.moment(machines.AnnotationAsked)
	if asked.IsZero() && s.id() == "" {
		return machines.InstanceGone, nil // there never was one
	}
	var err error
	if s.place, s.location, err = s.Places.Find(ctx, s.Client, s.machine.Namespace, s.machine.Spec.LocationRef); err != nil {
		return machines.InstanceThere, err
	}
	ctx, cancel := context.WithTimeout(ctx, calling)
	defer cancel()
	if s.id() == "" {
		return s.search(ctx, latest(asked, s.machine.DeletionTimestamp.Time))
	}
	found, err := s.place.Get(ctx, s.owner(), s.id())
	return s.endOf(found, err)
}

// endOf says what an answer of the place means.
func (s *scope) endOf(found backend.Instance, err error) (machines.InstanceEnd, error) {
	gone := err != nil && backend.ReasonOf(err) == backend.Gone
	switch {
	case gone && s.settled(s.moment(machines.AnnotationMade)):
		return machines.InstanceGone, nil
	case gone:
		return machines.InstanceDead, nil // it may not show yet: it is deleted in any case
	case err != nil:
		return machines.InstanceThere, err
	case found.State == backend.Running || found.State == backend.Creating:
		return machines.InstanceThere, nil
	}
	return machines.InstanceDead, nil
}

// search looks for an instance that was asked for and of which no answer came. A list that does not show it is believed when it had
// the time to; what shows later still is an orphan, and found as one.
func (s *scope) search(ctx context.Context, since time.Time) (machines.InstanceEnd, error) {
	all, err := s.place.List(ctx, s.owner())
	if err != nil {
		return machines.InstanceThere, err
	}
	for _, instance := range all {
		if instance.Name == s.machine.Name {
			return machines.InstanceThere, s.annotate(ctx, map[string]string{
				machines.AnnotationInstance: instance.ID, machines.AnnotationMade: s.now().UTC().Format(time.RFC3339),
			})
		}
	}
	if s.settled(since) {
		return machines.InstanceGone, nil
	}
	return machines.InstanceDead, nil
}

// latest is the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
