// SPDX-License-Identifier: Apache-2.0

// Package direct looks after the TalosMachines of pools that Cluster API does not serve: it sees them, asks plan/machines how many
// there should be and which, and makes and deletes the objects. The machines themselves are controller/machine's.
package direct

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	api "minos.dev/minos/api/v1alpha1"
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
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

var _ pool.Direct = (*Machines)(nil)

// Reconcile brings the machines of a pool a step closer to what is wanted, and says what it sees of them.
func (m *Machines) Reconcile(ctx context.Context, wanted pool.Wanted) (pool.Seen, error) {
	desired := desiredOf(wanted)
	policy := machines.PolicyOf(wanted.Pool, machines.Limits{
		Desired: desired, Revision: wanted.Rolls, Surge: wanted.Budget.Surge, Unavailable: wanted.Budget.Unavailable,
	})
	around := machines.Around{Now: m.now(), Entropy: []byte(rand.Text()), Unreachable: unreachable(wanted.Cluster)}
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
	if err := errors.Join(m.apply(ctx, wanted, objects, todo), m.revise(ctx, wanted, objects)); err != nil {
		return pool.Seen{}, err
	}
	if todo.Held != "" {
		log.FromContext(ctx).Info("held back", "reason", todo.Held)
	}
	return seenOf(wanted, objects, todo, desired), nil
}

// Delete has all machines of a pool removed, and says how many are left.
func (m *Machines) Delete(ctx context.Context, of *api.NodePool) (int, error) {
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

// tell tells people of a pool.
func (m *Machines) tell(of *api.NodePool, kind, reason, message string) {
	if m.Events != nil {
		m.Events.Eventf(of, nil, kind, reason, reason, "%s", message)
	}
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
	m.tell(of, corev1.EventTypeNormal, "Deleted", fmt.Sprintf("%s: %s", object.Name, reason))
	return nil
}
