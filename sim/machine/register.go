// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// leases is the namespace of Nodes' leases.
const leases = corev1.NamespaceNodeLease

// leaseSeconds is for how long a lease holds, as kubelets have it.
const leaseSeconds = 40

// register makes the Node and its lease, unless they are there, and returns the Node.
func (k *kube) register(ctx context.Context, facts nodeFacts) (*corev1.Node, error) {
	node, err := k.core.Nodes().Create(ctx, newNode(facts), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		node, err = k.core.Nodes().Get(ctx, facts.name, metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("register the Node: %w", err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: facts.name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID},
		}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(facts.name), LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: new(metav1.NowMicro()),
		},
	}
	_, err = k.coordination.Leases(leases).Create(ctx, lease, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = nil
		if !facts.silent {
			err = k.renew(ctx, facts.name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keep the lease: %w", err)
	}
	return node, nil
}

// renew renews the lease.
func (k *kube) renew(ctx context.Context, node string) error {
	patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
	_, err := k.coordination.Leases(leases).Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// report patches the status. An update would carry taints that a controller may have changed in between, and a kubelet may
// not change those.
func (k *kube) report(ctx context.Context, facts nodeFacts, network bool) error {
	patch, err := json.Marshal(map[string]any{"status": newStatusPatch(nodeStatus(facts, network, time.Now()))})
	if err != nil {
		return err
	}
	_, err = k.core.Nodes().Patch(ctx, facts.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("report the Node's status: %w", err)
	}
	return nil
}

// A statusPatch is a status whose addresses replace those that are there. Else they would be merged by their type, of which a
// machine with two addresses has the same twice.
type statusPatch struct {
	corev1.NodeStatus
	Addresses []any `json:"addresses"`
}

// newStatusPatch makes one.
func newStatusPatch(status corev1.NodeStatus) statusPatch {
	patch := statusPatch{NodeStatus: status, Addresses: []any{map[string]string{"$patch": "replace"}}}
	for _, address := range status.Addresses {
		patch.Addresses = append(patch.Addresses, address)
	}
	return patch
}

// markAgain is how often marking is tried, markPause the time between.
const (
	markAgain = 10
	markPause = 100 * time.Millisecond
)

// mark sets Talos's labels and annotations on a Node as it was seen last. They are sent together, so that one which is
// forbidden holds back all. What is forbidden is tried again, as Talos does: a controller that taints the Node in between makes
// it look as if the kubelet had.
func (k *kube) mark(ctx context.Context, node *corev1.Node, labels, annotations map[string]string) error {
	for try := 1; applyMarks(node, labels, annotations); try++ {
		_, err := k.core.Nodes().Update(ctx, node, metav1.UpdateOptions{})
		if try == markAgain || !apierrors.IsConflict(err) && !apierrors.IsForbidden(err) {
			return err
		}
		select {
		case <-time.After(markPause):
		case <-ctx.Done():
			return err
		}
		if node, err = k.core.Nodes().Get(ctx, node.Name, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return nil
}
