// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/conduct"
)

// testUndeletable has a place refuse to delete an instance: it is said and tried again, the Node stays for as long as the instance
// does, and both go when the place gives in.
func testUndeletable(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1})
	w.run()
	w.eventually(w.ready(2))
	w.keeper.Set(conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Refuses, Calls: []conduct.Call{conduct.Delete}}}})
	w.scale(1)
	node := ""
	w.eventually(func(ctx context.Context) error {
		all, err := w.machines(ctx)
		for _, one := range all {
			ready := meta.FindStatusCondition(one.Status.Conditions, api.ConditionReady)
			if ready != nil && ready.Reason == api.ReasonDeleting && strings.Contains(ready.Message, "it is tried again after") {
				node = one.Name
				return nil
			}
		}
		return errors.Join(err, errors.New("nobody says that the place refuses:"+stands(all)))
	})
	if err := w.nodes.Get(t.Context(), client.ObjectKey{Name: node}, &corev1.Node{}); err != nil {
		t.Errorf("the Node went before its instance: %v", err)
	}
	if instances := w.cloud.Instances(); len(instances) != 2 {
		t.Errorf("there are %d instances", len(instances))
	}
	w.keeper.Set(conduct.Behaviour{})
	w.eventually(w.ready(1))
	w.eventually(func(ctx context.Context) error { return w.noNode(ctx, node) })
}
