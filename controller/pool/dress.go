// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// dress gives the Nodes of virtual machines their labels: a machine is born with them, and none is made anew for another. A cluster
// that does not answer is asked again later, and is no fault of the pool's.
func (t *turn) dress(ctx context.Context) (*plan.Refusal, error) {
	if t.Tenants == nil || t.pool.Spec.Machine.KubeVirt == nil {
		return nil, nil
	}
	for _, one := range t.live.Dressings(t.configured.Labels) {
		if err := t.label(ctx, one); err != nil {
			t.next = again
			t.note(fmt.Sprintf("Node %s could not be given its labels: %s", one.Node, err.Error()))
			return nil, nil // the others are of the same cluster
		}
		if err := t.noteLabels(ctx, one); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// label sets the labels of one Node.
func (t *turn) label(ctx context.Context, one virtual.Dressing) error {
	reach, err := t.Tenants.Client(ctx, t.cluster)
	if err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: one.Node}}
	return mergeWith(ctx, reach, node, map[string]any{"metadata": map[string]any{"labels": one.Labels}})
}

// noteLabels writes down what a Node was given.
func (t *turn) noteLabels(ctx context.Context, one virtual.Dressing) error {
	var given any = one.Given
	if one.Given == "" {
		given = nil
	}
	machine := empty(virtual.MachineKind)
	machine.SetNamespace(t.pool.Namespace)
	machine.SetName(one.Machine)
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{virtual.AnnotationLabels: given}}}
	return wrap(t.merge(ctx, machine, patch), "note the labels of Machine %s", one.Machine)
}
