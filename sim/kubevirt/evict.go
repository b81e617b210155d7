// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// graceAnnotation is until when the provider waits for pods to leave a Node whose machine must leave its host.
const graceAnnotation = "capk.cluster.x-k8s.io/vmi-deletion-grace-time"

// Evict begins what the real provider does when the host of a machine is emptied: it writes down until when it waits, and cordons
// the Node. A Node that is cordoned already stays as it is.
func (d *Double) Evict(ctx context.Context, namespace, name string) error {
	object, err := d.grace(ctx, namespace, name, time.Now().Add(10*time.Minute).UTC().Format(time.RFC3339))
	if err != nil {
		return err
	}
	found, err := d.find(ctx, object)
	if err != nil {
		return fmt.Errorf("find the Machine of KubevirtMachine %s: %w", name, err)
	}
	if found == nil {
		return fmt.Errorf("KubevirtMachine %s is paused, or no Machine's", name)
	}
	tenant, err := d.tenant(ctx, namespace, text(found.machine, "spec", "clusterName"))
	if err != nil {
		return err
	}
	node, err := tenant.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil || node.Spec.Unschedulable {
		return err
	}
	_, err = tenant.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	return err
}

// Move ends it: the machine stops where it is and starts elsewhere, with the same disk. Its Node stays cordoned, as the provider
// leaves it.
func (d *Double) Move(ctx context.Context, namespace, name string) error {
	d.Kill(namespace, name)
	if _, err := d.grace(ctx, namespace, name, nil); err != nil {
		return err
	}
	d.Power(namespace, name)
	return nil
}

// grace writes the annotation, or takes it away.
func (d *Double) grace(ctx context.Context, namespace, name string, until any) (*unstructured.Unstructured, error) {
	object := kind(machineKind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object, d.client.Patch(ctx, object, merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{graceAnnotation: until}}}))
}
