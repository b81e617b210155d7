// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
)

// pod runs on a Node, as far as the API server knows.
func (w *world) pod(name, node string, labels map[string]string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: corev1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: new(int64(0)), AutomountServiceAccountToken: new(false),
			Containers: []corev1.Container{{Name: "one", Image: "nothing"}},
		},
	}
	w.eventually(func(ctx context.Context) error { return w.nodes.Create(ctx, pod) }) // its service account takes a moment
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if err := w.nodes.Status().Update(w.t.Context(), pod); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.nodes.Delete(context.Background(), pod, client.GracePeriodSeconds(0)) })
	return pod
}

// nothing wants nothing to be left of some machines.
func (w *world) nothing(names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		all, err := w.machines(ctx)
		if err != nil {
			return err
		}
		if instances := w.cloud.Instances(); len(all) > 0 || len(instances) > 0 {
			return fmt.Errorf("%d instances, and machines %s", len(instances), stands(all))
		}
		for _, name := range names {
			if err := w.noNode(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}
}

// testEnd ends machines: pods are evicted, one that a budget holds has until the deadline, and nothing
// is left in the place, in the tenant or here.
func testEnd(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1, drain: 6})
	w.run()
	w.eventually(w.ready(1))
	node := w.cloud.Instances()[0].Name
	w.pod("leaves-"+node, node, nil)
	held := w.pod("held-"+node, node, map[string]string{"held": node})
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: node},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"held": node}}},
	}
	if err := w.nodes.Create(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	w.scale(0)
	w.eventually(func(ctx context.Context) error {
		err := w.nodes.Get(ctx, client.ObjectKey{Namespace: "default", Name: "leaves-" + node}, &corev1.Pod{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(err, errors.New("the pod that may leave is there"))
		}
		return nil
	})
	if instances := w.cloud.Instances(); len(instances) != 1 || instances[0].State != backend.Running {
		t.Errorf("the instance does not wait for a pod that a budget holds: %v", instances)
	}
	if err := w.nodes.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Error(err)
	}
	w.eventually(w.nothing(node))
	if passed := time.Since(began); passed < 5*time.Second {
		t.Errorf("the pod was given %s and not 6s", passed)
	}
}

// testEndOfADeadTenant ends machines whose API server does not answer any more.
func testEndOfADeadTenant(t *testing.T) {
	w := newWorld(t, options{replicas: 2, surge: 1, patience: 2 * time.Second, withoutNodes: true})
	w.run()
	w.eventually(w.ready(2))
	w.silence()
	w.scale(0)
	w.eventually(w.nothing())
}

// silence has the cluster not answer: its kubeconfig leads to a port where nobody is.
func (w *world) silence() {
	w.t.Helper()
	config := string(w.tenant.Plane.Kubeconfig())
	dead := strings.ReplaceAll(config, ":6443", ":6")
	if dead == config {
		w.t.Fatal("the kubeconfig has no port to change")
	}
	secret := w.secret("shop-kubeconfig", "value", []byte(dead), nil)
	if err := w.client.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

// testKilled kills the operator at every step of making and ending, and starts another: nothing is made twice, nothing is left.
func testKilled(t *testing.T) {
	w := newWorld(t, options{replicas: 3, surge: 1, drain: 60})
	some := func(holds func(api.TalosMachine) bool) func(context.Context) error {
		return func(ctx context.Context) error {
			all, err := w.machines(ctx)
			if err != nil {
				return err
			}
			for _, one := range all {
				if holds(one) {
					return nil
				}
			}
			return errors.New("not yet: " + stands(all))
		}
	}
	has := func(annotation string) func(context.Context) error {
		return some(func(one api.TalosMachine) bool { return one.Annotations[annotation] != "" })
	}
	is := func(step string) func(context.Context) error {
		return some(func(one api.TalosMachine) bool {
			for _, condition := range one.Status.Conditions {
				if condition.Type == step && condition.Status == metav1.ConditionTrue {
					return true
				}
			}
			return false
		})
	}
	for _, moment := range []func(context.Context) error{
		some(func(api.TalosMachine) bool { return true }), has(machines.AnnotationAsked), has(machines.AnnotationInstance),
		is(api.ConditionInstanceReady), is(api.ConditionNodeRegistered), is(api.ConditionReady),
	} {
		w.run()
		w.eventually(moment)
		w.kill()
	}
	w.run()
	w.eventually(w.ready(3))
	w.kill()
	if made := w.count(" is made"); made != 3 {
		t.Errorf("%d instances were made, want 3", made)
	}
	var nodes []string
	for _, instance := range w.cloud.Instances() {
		nodes = append(nodes, instance.Name)
	}
	w.scale(0)
	fewer := func(context.Context) error {
		if len(w.cloud.Instances()) == 3 {
			return errors.New("all instances are there")
		}
		return nil
	}
	cordoned := func(ctx context.Context) error {
		var node corev1.Node
		for _, name := range nodes {
			if err := w.nodes.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil || node.Spec.Unschedulable {
				return client.IgnoreNotFound(err)
			}
		}
		return errors.New("no Node is cordoned")
	}
	for _, moment := range []func(context.Context) error{some(func(one api.TalosMachine) bool { return !one.DeletionTimestamp.IsZero() }), cordoned, fewer} {
		w.run()
		w.eventually(moment)
		w.kill()
	}
	w.run()
	w.eventually(w.nothing(nodes...))
}
