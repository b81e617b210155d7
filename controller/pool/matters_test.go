// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	api "minos.dev/minos/api/v1alpha1"
)

// TestMatters has pools looked at for what a cluster says of itself, and not for what it says of them: each of thousands of pools
// would have all its siblings looked at whenever it says something.
func TestMatters(t *testing.T) {
	says := func(kind, message string) func(*api.TalosCluster) {
		return func(cluster *api.TalosCluster) {
			cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Waiting", Message: message})
		}
	}
	count := int32(3)
	for name, test := range map[string]struct {
		change func(*api.TalosCluster)
		want   bool
	}{
		"nothing":     {func(*api.TalosCluster) {}, false},
		"annotations": {func(c *api.TalosCluster) { c.Annotations = map[string]string{"a": "b"} }, false},
		"numbers": {func(c *api.TalosCluster) {
			c.Status.Pools, c.Status.Machines, c.Status.ReadyMachines = &count, &count, &count
		}, false},
		"pools ready": {says(api.ConditionPoolsReady, "1 of 3 pools"), false},
		"declaration": {func(c *api.TalosCluster) { c.Generation++ }, true},
		"another one": {func(c *api.TalosCluster) { c.UID = "2" }, true},
		"deletion":    {func(c *api.TalosCluster) { c.DeletionTimestamp = new(metav1.Now()) }, true},
		"endpoint":    {func(c *api.TalosCluster) { c.Status.Endpoint = &api.Endpoint{Host: "a", Port: 6443} }, true},
		"version":     {func(c *api.TalosCluster) { c.Status.KubernetesVersion = "v1.36.3" }, true},
		"ready":       {says(api.ConditionReady, "the signer does not answer"), true},
		"plane ready": {says(api.ConditionControlPlaneReady, "it does not answer"), true},
	} {
		before := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
		after := before.DeepCopy()
		test.change(after)
		if got := matters(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// TestSilenced has a pool looked at whose word somebody else took away, and not for what it says itself.
func TestSilenced(t *testing.T) {
	says, nothing := &api.NodePool{}, &api.NodePool{}
	says.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}}
	for name, test := range map[string]struct {
		before, after *api.NodePool
		want          bool
	}{"it begins to say something": {nothing, says, false}, "it says the same": {says, says, false}, "nothing is said": {nothing, nothing, false}, "it was silenced": {says, nothing, true}} {
		if got := silenced(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
