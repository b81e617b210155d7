// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/virtual"
)

// tend looks after virtual machines that are there, also of a pool whose declaration is broken: those that failed are kept where the
// pool says so, and Nodes that the provider left cordoned are uncordoned.
func (t *turn) tend(ctx context.Context) error {
	if t.live.Deployment == nil || !metav1.IsControlledBy(t.live.Deployment, t.pool) {
		return nil
	}
	if err := t.keepFailed(ctx); err != nil {
		return err
	}
	return t.uncordon(ctx)
}

// keepFailed takes machines that failed out of the deployment, which then makes others.
func (t *turn) keepFailed(ctx context.Context) error {
	keeping := t.live.Keep(t.pool)
	t.note(keeping.Held)
	for _, one := range keeping.Take {
		for at := range t.live.Machines {
			machine := &t.live.Machines[at]
			if machine.GetName() != one.Name {
				continue
			}
			if err := t.merge(ctx, machine.DeepCopy(), virtual.Take(t.pool, machine, one.Reason)); err != nil {
				return fmt.Errorf("keep Machine %s: %w", one.Name, err)
			}
			t.event(corev1.EventTypeWarning, "Kept", fmt.Sprintf("Machine %s failed and is kept for study until somebody deletes it: %s", one.Name, one.Reason))
			t.Metrics.Judged(t.pool.Spec.Machine.Member(), metrics.Kept)
		}
	}
	return nil
}

// removeKept deletes the machines of the pool's own, which no deployment takes with it.
func (t *turn) removeKept(ctx context.Context) error {
	for at := range t.live.Machines {
		machine := &t.live.Machines[at]
		if _, kept := machine.GetAnnotations()[machines.AnnotationKept]; !kept || !machine.GetDeletionTimestamp().IsZero() {
			continue
		}
		if err := t.delete(ctx, machine); err != nil {
			return err
		}
	}
	return nil
}

// uncordon looks after Nodes that were drained because a host was emptied. Tenants are asked only when there are such.
func (t *turn) uncordon(ctx context.Context) error {
	key := client.ObjectKeyFromObject(t.pool)
	noticed := t.noticed.of(key)
	drains := t.live.Drains(noticed)
	if t.Tenants == nil || t.cluster == nil {
		return nil
	}
	for _, drain := range drains {
		t.next = soon
		reach, node, err := t.nodeOf(ctx, drain)
		if err != nil {
			t.next = again
			t.note(fmt.Sprintf("whether Node %s is still cordoned after its host was emptied is not known: %s", drain.Node, err.Error()))
			return nil // a cluster that does not answer is no fault of the pool's
		}
		if err := t.settleDrain(ctx, drain, node, reach); err != nil {
			return err
		}
	}
	t.noticed.drop(key, noticed)
	return nil
}

// nodeOf reads the Node of a drain, with the client that reaches it; nil if there is none.
func (t *turn) nodeOf(ctx context.Context, drain virtual.Drain) (client.Client, *corev1.Node, error) {
	reach, err := t.Tenants.Client(ctx, t.cluster)
	if err != nil {
		return nil, nil, err
	}
	node := &corev1.Node{}
	err = reach.Get(ctx, client.ObjectKey{Name: drain.Node}, node)
	if apierrors.IsNotFound(err) {
		return reach, nil, nil
	}
	return reach, node, err
}

// settleDrain takes one drain a step further.
func (t *turn) settleDrain(ctx context.Context, drain virtual.Drain, node *corev1.Node, reach client.Client) error {
	if node == nil {
		return t.mark(ctx, drain, nil)
	}
	if drain.New {
		return t.mark(ctx, drain, drain.Mark(node))
	}
	what, why := drain.After(node)
	switch what {
	case virtual.Wait:
		return nil
	case virtual.Leave:
		t.next = again
		t.note(why)
		return nil
	case virtual.Undo:
		patch := map[string]any{"metadata": map[string]any{"resourceVersion": node.ResourceVersion}, "spec": map[string]any{"unschedulable": nil}}
		if err := mergeWith(ctx, reach, node, patch); err != nil {
			return fmt.Errorf("uncordon Node %s: %w", node.Name, err)
		}
		t.event(corev1.EventTypeNormal, "Uncordoned", fmt.Sprintf("Node %s was drained because the host of its machine was emptied, works again and takes pods", node.Name))
	}
	return t.mark(ctx, drain, nil)
}

// mark writes down that a machine's Node is drained, or forgets it.
func (t *turn) mark(ctx context.Context, drain virtual.Drain, text any) error {
	for at := range t.live.Machines {
		machine := &t.live.Machines[at]
		_, marked := machine.GetAnnotations()[virtual.AnnotationDrained]
		if machine.GetName() != drain.Machine || text == nil && !marked {
			continue
		}
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{virtual.AnnotationDrained: text}}}
		if err := t.merge(ctx, machine.DeepCopy(), patch); err != nil {
			return fmt.Errorf("note the drain of Machine %s: %w", drain.Machine, err)
		}
	}
	return nil
}

// note has something said of the machines.
func (t *turn) note(text string) {
	if text != "" && t.seen != nil {
		t.seen.Notes = append(t.seen.Notes, text)
	}
}

// merge changes some fields of an object. One that is gone needs no change.
func (t *turn) merge(ctx context.Context, object client.Object, patch map[string]any) error {
	return mergeWith(ctx, t.Client, object, patch)
}

// mergeWith does the same with a client of the caller's.
func mergeWith(ctx context.Context, with client.Client, object client.Object, patch map[string]any) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return client.IgnoreNotFound(with.Patch(ctx, object, client.RawPatch(types.MergePatchType, text), client.FieldOwner(names.Owner)))
}

// noticed remembers drains between two looks at a pool: one may begin and end meanwhile.
type noticed struct {
	mutex sync.Mutex
	by    map[types.NamespacedName]map[string]string // what the provider wrote, by pool and KubevirtMachine
}

// watch has the pool looked at whose label a KubevirtMachine has, and remembers what it says of a drain.
func (n *noticed) watch(ctx context.Context, object client.Object) []reconcile.Request {
	requests := labelled(ctx, object)
	grace := object.GetAnnotations()[virtual.AnnotationGrace]
	if grace == "" || len(requests) == 0 {
		return requests
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.by == nil {
		n.by = map[types.NamespacedName]map[string]string{}
	}
	pool := requests[0].NamespacedName
	if n.by[pool] == nil {
		n.by[pool] = map[string]string{}
	}
	n.by[pool][object.GetName()] = grace
	return requests
}

// of is what was noticed of a pool.
func (n *noticed) of(pool types.NamespacedName) map[string]string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	all := map[string]string{}
	for name, text := range n.by[pool] {
		all[name] = text
	}
	return all
}

// drop forgets what was written down since, and nothing newer.
func (n *noticed) drop(pool types.NamespacedName, written map[string]string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for name, text := range written {
		if n.by[pool][name] == text {
			delete(n.by[pool], name)
		}
	}
	if len(n.by[pool]) == 0 {
		delete(n.by, pool)
	}
}

// forget forgets a pool.
func (n *noticed) forget(pool types.NamespacedName) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	delete(n.by, pool)
}
