// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
)

// TestHolder has a pool that is written down for its role, and one that was made before it and wants the role too.
func TestHolder(t *testing.T) {
	role := &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}, Spec: api.NodeRoleSpec{PerCluster: api.PerClusterOne}}
	elder, own := newPool("elder", 0, 1), newPool("own", 10, 1)
	elder.UID, own.UID = "1", "2"
	changed := func(observed int64, upToDate metav1.ConditionStatus) api.NodePool {
		other := *own.DeepCopy()
		other.Spec.Role, other.Generation, other.Status.ObservedGeneration = "plain", 2, observed
		other.Status.Conditions = []metav1.Condition{{Type: api.ConditionUpToDate, Status: upToDate}}
		return other
	}
	anew := *own.DeepCopy()
	anew.UID = "3"
	for name, test := range map[string]struct {
		written      types.UID
		other        api.NodePool
		elder, again bool // whether the elder and the other may have it
	}{
		"nobody is written down":                {"", own, true, false},
		"the younger is":                        {"2", own, false, true},
		"the elder is":                          {"1", own, true, false},
		"one that is gone":                      {"9", own, true, false},
		"one of the same name that is gone":     {"2", anew, true, false},
		"one of another role, unseen":           {"2", changed(1, metav1.ConditionTrue), false, true},
		"one of another role, still rolling":    {"2", changed(2, metav1.ConditionFalse), false, true},
		"one of another role, with no machines": {"2", changed(2, metav1.ConditionTrue), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop", Annotations: map[string]string{pool.AnnotationHolders: "not JSON"}}}
			if test.written != "" {
				text, err := pool.Hold(cluster, &api.NodePool{ObjectMeta: metav1.ObjectMeta{UID: test.written}, Spec: api.NodePoolSpec{Role: "gateway"}})
				if err != nil {
					t.Fatal(err)
				}
				cluster.Annotations[pool.AnnotationHolders] = text
			}
			all := []api.NodePool{elder, test.other}
			if got := pool.Play(&elder, role, cluster, all) == nil; got != test.elder {
				t.Errorf("the elder may have it: %t", got)
			}
			if test.other.Spec.Role != "gateway" {
				return
			}
			if got := pool.Play(&test.other, role, cluster, all) == nil; got != test.again {
				t.Errorf("the other may have it: %t", got)
			}
			if got := pool.Holds(cluster, &test.other); got != (test.written == test.other.UID) {
				t.Errorf("the other holds it: %t", got)
			}
		})
	}
}
