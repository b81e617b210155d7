// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
)

// measure notes what is so of the pool and its machines.
func (t *turn) measure() {
	key := client.ObjectKeyFromObject(t.pool)
	now := metrics.PoolOf(t.pool, t.seen)
	if t.seen == nil && !t.pool.DeletionTimestamp.IsZero() {
		now.Machines = map[string]int{metrics.StateLeaving: max(t.leaving, len(t.live.Machines))}
	}
	t.Metrics.Pool(key, now)
	if t.seen != nil && t.pool.Spec.Machine.KubeVirt != nil {
		t.Metrics.Virtual(key, t.live.Machines)
	}
}

// change is how the status is written. What people hear of, or what is counted, must not be written again by whoever has not seen yet
// that it was: a cache may be behind.
func (t *turn) change(before *api.NodePool) client.Patch {
	for _, now := range t.pool.Status.Conditions {
		was := meta.FindStatusCondition(before.Status.Conditions, now.Type)
		if was == nil || was.Status != now.Status || was.Reason != now.Reason {
			return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		}
	}
	return client.MergeFrom(before)
}

// rolled tells of a roll-out that began or ended with the status that was just written.
func (t *turn) rolled(before *api.NodePool) {
	happened := metrics.RolloutOf(before.Status.Conditions, t.pool.Status.Conditions)
	t.Metrics.Rolled(t.pool.Spec.Machine.Member(), happened)
	now := meta.FindStatusCondition(t.pool.Status.Conditions, api.ConditionUpToDate)
	switch {
	case happened.Begun:
		t.event(corev1.EventTypeNormal, "RolloutBegun", cmp.Or(t.cause, fmt.Sprintf("revision %s: %s", t.pool.Status.Revision, now.Message)))
	case happened.Finished:
		t.event(corev1.EventTypeNormal, "RolloutFinished", fmt.Sprintf("after %s: %s", happened.Took.Round(time.Second), now.Message))
	}
}
