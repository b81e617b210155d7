// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/kubetest"
)

// autoscaler stands for the cluster autoscaler with its provider for Cluster API. It knows a pool by its MachineDeployment only:
// what stands in the annotations, and the scale.
type autoscaler struct{ s *stage }

// group is what it reads of a deployment.
type group struct {
	least, most int
	patience    time.Duration
	node        corev1.Node // what the first machine of an empty group would be
}

// deployment reads the one of the pool.
func (a autoscaler) deployment(ctx context.Context) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(virtual.DeploymentKind)
	return found, kubetest.Client(a.s.t).Get(ctx, client.ObjectKey{Namespace: a.s.namespace, Name: "workers"}, found)
}

// group reads it. A group of which processor and memory are not known cannot grow from nothing.
func (a autoscaler) group(ctx context.Context) (group, error) {
	deployment, err := a.deployment(ctx)
	if err != nil {
		return group{}, err
	}
	said := deployment.GetAnnotations()
	const bounds, capacity = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-", "capacity.cluster-autoscaler.kubernetes.io/"
	var found group
	var failed [3]error
	found.least, failed[0] = strconv.Atoi(said[bounds+"min-size"])
	found.most, failed[1] = strconv.Atoi(said[bounds+"max-size"])
	found.patience, failed[2] = time.ParseDuration(said["cluster.x-k8s.io/autoscaling-options-maxnodeprovisiontime"])
	found.node.Status.Capacity = corev1.ResourceList{}
	for key, name := range map[string]corev1.ResourceName{
		"cpu": corev1.ResourceCPU, "memory": corev1.ResourceMemory, "ephemeral-disk": corev1.ResourceEphemeralStorage, "maxPods": corev1.ResourcePods,
	} {
		amount, err := resource.ParseQuantity(said[capacity+key])
		if err != nil {
			return group{}, fmt.Errorf("%s is %q: %w", key, said[capacity+key], err)
		}
		found.node.Status.Capacity[name] = amount
	}
	found.node.Labels = map[string]string{}
	for _, label := range strings.Split(said[capacity+"labels"], ",") {
		if key, value, ok := strings.Cut(label, "="); ok {
			found.node.Labels[key] = value
		}
	}
	for _, text := range strings.Split(said[capacity+"taints"], ",") {
		key, rest, _ := strings.Cut(text, "=")
		value, effect, _ := strings.Cut(rest, ":")
		found.node.Spec.Taints = append(found.node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return found, errors.Join(failed[:]...)
}

// size asks for so many machines, by the scale as the real one does.
func (a autoscaler) size(ctx context.Context, count int) error {
	deployment, err := a.deployment(ctx)
	if err != nil {
		return err
	}
	scale, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": count}})
	if err != nil {
		return err
	}
	return kubetest.Client(a.s.t).SubResource("scale").Patch(ctx, deployment, client.RawPatch(types.MergePatchType, scale), client.FieldOwner("cluster-autoscaler"))
}

// give marks a machine as the one to go, and asks for one less.
func (a autoscaler) give(ctx context.Context, machine string, count int) error {
	found, err := a.s.machine(ctx, machine)
	if err != nil {
		return err
	}
	mark := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"cluster.x-k8s.io/delete-machine":"now"}}}`))
	if err := kubetest.Client(a.s.t).Patch(ctx, found, mark); err != nil {
		return err
	}
	return a.size(ctx, count)
}

// growing is a pool that begins with no machine.
const growing = `
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: here}
  autoscaling: {min: 0, max: 2, provisionTimeoutSeconds: 900}
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
  config:
    labels: {example.com/tier: batch}
    taints: [{key: example.com/batch, value: "true", effect: NoSchedule}]
`

// TestScaleFromZero has the autoscaler make the first machine of a pool, another, and give both back. The pool's own controller
// never touches the number.
func TestScaleFromZero(t *testing.T) {
	s := newStage(t)
	s.begin(growing, 0)
	scaler := autoscaler{s}
	wanted, err := scaler.group(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if wanted.least != 0 || wanted.most != 2 || wanted.patience != 15*time.Minute {
		t.Errorf("from %d to %d machines, each within %s", wanted.least, wanted.most, wanted.patience)
	}
	for _, count := range []int{1, 2} {
		if err := scaler.size(t.Context(), count); err != nil {
			t.Fatal(err)
		}
		s.wait(int32(count))
		s.quiet()
	}
	s.promised(wanted.node)
	s.ours()

	// A change of what machines are is rolled out, and leaves the number alone.
	s.patch(`{"spec":{"machine":{"kubevirt":{"size":{"resources":{"memory":"6Gi"}}}}}}`)
	s.wait(2)
	machines := s.machines()
	if err := scaler.give(t.Context(), machines[1], 1); err != nil {
		t.Fatal(err)
	}
	s.wait(1)
	if left := s.machines(); len(left) != 1 || left[0] != machines[0] {
		t.Errorf("the machines are %v; %s was to go", left, machines[1])
	}
	if err := scaler.give(t.Context(), machines[0], 0); err != nil {
		t.Fatal(err)
	}
	s.wait(0)
	s.quiet()
	s.ours()
}

// promised wants the Nodes to be what the autoscaler was told of: it makes a machine for a pod because the pod would fit.
func (s *stage) promised(told corev1.Node) {
	s.t.Helper()
	nodes, err := s.tenant.CoreV1().Nodes().List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, node := range nodes.Items {
		for key, value := range told.Labels {
			if has, found := node.Labels[key]; !found || has != value {
				s.t.Errorf("Node %s has no label %s=%s: %v", node.Name, key, value, maps.Collect(maps.All(node.Labels)))
			}
		}
		for _, taint := range told.Spec.Taints {
			if !hasTaint(node.Spec.Taints, taint) {
				s.t.Errorf("Node %s has no taint %v: %v", node.Name, taint, node.Spec.Taints)
			}
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
			amount, offered := told.Status.Capacity[name], node.Status.Allocatable[name]
			if offered.Cmp(amount) < 0 {
				s.t.Errorf("Node %s offers %s of %s, and %s was promised", node.Name, offered.String(), name, amount.String())
			}
		}
	}
}

// hasTaint says whether a taint is among others.
func hasTaint(all []corev1.Taint, wanted corev1.Taint) bool {
	for _, taint := range all {
		if taint.Key == wanted.Key && taint.Value == wanted.Value && taint.Effect == wanted.Effect {
			return true
		}
	}
	return false
}

// ours wants the number of machines not to be a field of ours.
func (s *stage) ours() {
	s.t.Helper()
	deployment, err := autoscaler{s}.deployment(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range deployment.GetManagedFields() {
		if entry.Manager == names.Owner && strings.Contains(entry.FieldsV1.GetRawString(), `"f:replicas"`) {
			s.t.Errorf("the pool's controller owns the number of machines: %s", entry.FieldsV1.GetRawString())
		}
	}
}
