// SPDX-License-Identifier: Apache-2.0

// Package direct looks after the TalosMachines of pools that Cluster API does not serve: it sees them, asks plan/machines how many
// there should be and which, and makes and deletes the objects. The machines themselves are controller/machine's.
package direct

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// Machines look after those of all pools.
type Machines struct {
	// Client writes, and reads from a cache.
	Client client.Client
	// Truth reads what is so now. Nothing is made or deleted on the word of a cache: it may not show yet what was made a moment ago.
	Truth client.Reader
	// Events tells people; nil tells nobody.
	Events events.EventRecorder
	// Metrics takes what is counted; nil takes nothing.
	Metrics *metrics.Metrics
	// Now is the clock; nil is the real one.
	Now func() time.Time

	held sync.Map // pools in which nothing is replaced, so that it is told once
}

var _ pool.Direct = (*Machines)(nil)

// Reconcile brings the machines of a pool a step closer to what is wanted, and says what it sees of them.
func (m *Machines) Reconcile(ctx context.Context, wanted pool.Wanted) (pool.Seen, error) {
	desired := desiredOf(wanted)
	policy := machines.PolicyOf(wanted.Pool, machines.Limits{
		Desired: desired, Revision: wanted.Rolls, Surge: wanted.Budget.Surge, Unavailable: wanted.Budget.Unavailable,
	})
	around := machines.Around{Now: m.now(), Entropy: []byte(wanted.Pool.UID), Named: namedOf(wanted.Pool), Unreachable: unreachable(wanted.Cluster)}
	objects, err := m.list(ctx, m.Client, wanted.Pool)
	if err != nil {
		return pool.Seen{}, err
	}
	todo := machines.For(policy, see(objects), around)
	if !todo.IsEmpty() {
		if objects, err = m.list(ctx, m.Truth, wanted.Pool); err != nil {
			return pool.Seen{}, err
		}
		todo = machines.For(policy, see(objects), around)
	}
	// What was used up is remembered before more is used: names that are given twice would be taken for one machine.
	if err := m.remember(ctx, wanted.Pool, todo.Named); err != nil {
		return pool.Seen{}, err
	}
	if err := errors.Join(m.apply(ctx, wanted, objects, todo), m.revise(ctx, wanted, objects)); err != nil {
		return pool.Seen{}, err
	}
	if err := m.remember(ctx, wanted.Pool, todo.NamedThen); err != nil {
		return pool.Seen{}, err
	}
	m.hold(wanted.Pool, todo.Held)
	return seenOf(wanted, objects, todo, desired), nil
}

// Delete has all machines of a pool removed, and says how many are left.
func (m *Machines) Delete(ctx context.Context, of *api.NodePool) (int, error) {
	m.held.Delete(of.UID)
	objects, err := m.list(ctx, m.Truth, of)
	if err != nil {
		return 0, err
	}
	for at := range objects {
		if !objects[at].DeletionTimestamp.IsZero() {
			continue
		}
		if err := m.delete(ctx, of, &objects[at], "the pool is being deleted"); err != nil {
			return len(objects), err
		}
	}
	return len(objects), nil
}

// desiredOf is how many machines there should be. The number of an autoscaled pool is the autoscaler's, within its bounds.
func desiredOf(wanted pool.Wanted) int {
	scaling := wanted.Pool.Spec.Autoscaling
	if scaling == nil {
		return int(wanted.Replicas)
	}
	var now, least int32
	if scaling.Min != nil {
		least = *scaling.Min
	}
	if said := wanted.Pool.Status.DesiredReplicas; said != nil {
		now = *said
	}
	return int(min(max(now, least), wanted.Replicas))
}

// unreachable is why nothing can be known of a cluster's Nodes.
func unreachable(cluster *api.TalosCluster) string {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionControlPlaneReady)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return ""
	}
	return fmt.Sprintf("cluster %s: %s", cluster.Name, ready.Message)
}

// list returns the machines of a pool.
func (m *Machines) list(ctx context.Context, reader client.Reader, of *api.NodePool) ([]api.TalosMachine, error) {
	var found api.TalosMachineList
	err := reader.List(ctx, &found, client.InNamespace(of.Namespace), client.MatchingLabels{names.LabelPool: of.Name})
	if err != nil {
		return nil, fmt.Errorf("list the machines of pool %s: %w", of.Name, err)
	}
	return found.Items, nil
}

// namedOf is how many names the machines of a pool have used up, as it was remembered.
func namedOf(of *api.NodePool) int {
	count, err := strconv.Atoi(of.Annotations[machines.AnnotationNamed])
	if err != nil {
		return 0 // what is not a number was not written by us; what exists is skipped anyway
	}
	return max(count, 0)
}

// remember writes down how many names are used up, if that is news. It comes after the machines are made, and not before: whoever reads
// the number and then lists the machines sees all that have names below it, and makes the others by the same names as everybody.
func (m *Machines) remember(ctx context.Context, of *api.NodePool, named int) error {
	if named <= namedOf(of) {
		return nil
	}
	before := of.DeepCopy()
	metav1.SetMetaDataAnnotation(&of.ObjectMeta, machines.AnnotationNamed, strconv.Itoa(named))
	// The answer shows the pool as it is by now, and what is done is for the pool as it was read: it is not taken over.
	if err := m.Client.Patch(ctx, of.DeepCopy(), client.MergeFrom(before), client.FieldOwner(names.Owner)); err != nil {
		return fmt.Errorf("remember the names of pool %s: %w", of.Name, err)
	}
	return nil
}

// see reads machines off their objects. What rolls them is what counts as their revision here.
func see(objects []api.TalosMachine) []machines.Machine {
	seen := make([]machines.Machine, 0, len(objects))
	for at := range objects {
		one := machines.See(&objects[at])
		one.Revision = objects[at].Annotations[pool.AnnotationRolls]
		seen = append(seen, one)
	}
	return seen
}

// now is the time.
func (m *Machines) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// hold tells people once that nothing is replaced, and once that it is again. Whoever starts anew tells again: that it is so is what
// somebody has to see.
func (m *Machines) hold(of *api.NodePool, why string) {
	if why == "" {
		if _, was := m.held.LoadAndDelete(of.UID); was {
			m.tell(of, nil, notice{corev1.EventTypeNormal, "Released", "machines are replaced again"})
		}
		return
	}
	if _, told := m.held.Swap(of.UID, true); !told {
		m.tell(of, nil, notice{corev1.EventTypeWarning, "Held", why})
	}
}

// A notice is what people are told.
type notice struct{ kind, reason, message string }

// tell tells people of a pool, and of which of its machines: events that differ in neither are taken for one that happened again.
func (m *Machines) tell(of *api.NodePool, about *api.TalosMachine, what notice) {
	if m.Events == nil {
		return
	}
	if about == nil {
		m.Events.Eventf(of, nil, what.kind, what.reason, what.reason, "%s", what.message)
		return
	}
	m.Events.Eventf(of, about, what.kind, what.reason, what.reason, "%s", what.message)
}

// delete deletes one, once.
func (m *Machines) delete(ctx context.Context, of *api.NodePool, object *api.TalosMachine, reason string) error {
	err := m.Client.Delete(ctx, object, client.Preconditions{UID: &object.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete machine %s: %w", object.Name, err)
	}
	m.tell(of, object, notice{corev1.EventTypeNormal, "Deleted", fmt.Sprintf("%s: %s", object.Name, reason)})
	if reason == machines.Unhealthy(of, machines.See(object), m.now()) {
		m.judge(of, object, metrics.Replaced)
	}
	return nil
}

// judge counts what is done about a machine that failed, and that it did if nobody has counted that before.
func (m *Machines) judge(of *api.NodePool, object *api.TalosMachine, verdict metrics.Verdict) {
	if _, counted := object.Annotations[machines.AnnotationUnhealthy]; !counted {
		m.Metrics.Judged(of.Spec.Machine.Member(), metrics.Failed)
	}
	m.Metrics.Judged(of.Spec.Machine.Member(), verdict)
}
