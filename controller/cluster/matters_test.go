// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

// TestMatters has a cluster looked at when it would say something else of a pool, and not for all that a pool says.
func TestMatters(t *testing.T) {
	is := func(kind string, status metav1.ConditionStatus) func(*api.NodePool) {
		return func(pool *api.NodePool) {
			pool.Status.Conditions = append(pool.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: "Waiting"})
		}
	}
	count := int32(3)
	for name, test := range map[string]struct {
		change func(*api.NodePool)
		want   bool
	}{
		"nothing":     {func(*api.NodePool) {}, false},
		"finalizer":   {func(p *api.NodePool) { p.Finalizers = []string{"a"} }, false},
		"revision":    {func(p *api.NodePool) { p.Status.Revision = "abc" }, false},
		"step":        {is(api.ConditionConfigurationReady, metav1.ConditionTrue), false},
		"still not":   {is(api.ConditionReady, metav1.ConditionFalse), false},
		"ready":       {is(api.ConditionReady, metav1.ConditionTrue), true},
		"machines":    {func(p *api.NodePool) { p.Status.Replicas = &count }, true},
		"joined":      {func(p *api.NodePool) { p.Status.ReadyReplicas = &count }, true},
		"declaration": {func(p *api.NodePool) { p.Generation++ }, true},
		"another one": {func(p *api.NodePool) { p.UID = "2" }, true},
		"deletion":    {func(p *api.NodePool) { p.DeletionTimestamp = new(metav1.Now()) }, true},
	} {
		before := &api.NodePool{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
		after := before.DeepCopy()
		test.change(after)
		if got := matters(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// TestSaid has a cluster looked at for all that its control plane says, and of a Cluster for what is declared only.
func TestSaid(t *testing.T) {
	before := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Generation: 1}} // any object will do
	told, declared := before.DeepCopy(), before.DeepCopy()
	told.Status.KubernetesVersion, declared.Generation = "v1.36.3", 2
	for _, test := range []struct {
		kind  hosted.Kind
		after *api.TalosCluster
		want  bool
	}{
		{hosted.ControlPlaneKind, told, true}, {hosted.ControlPlaneKind, declared, true}, {hosted.ClusterKind, told, false}, {hosted.ClusterKind, declared, true},
	} {
		if got := said(test.kind.Kind.WithVersion("v1")).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s %v: got %v, want %v", test.kind.Kind, test.after, got, test.want)
		}
	}
}
