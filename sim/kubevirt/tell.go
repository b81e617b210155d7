// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// patience bounds a call to a tenant's API server, which may be dead.
const patience = 5 * time.Second

// waits tells why a machine is not ready, and has it looked at again.
func (d *Double) waits(ctx context.Context, object *unstructured.Unstructured, reason, message string) (reconcile.Result, error) {
	d.say(nameOf(object.GetNamespace(), object.GetName()), message)
	return d.soon(), d.tell(ctx, object, report{reason: reason, message: message, nodeUpdated: yes(object, "status", "nodeupdated")})
}

// joined tells that a machine runs, and gives its Node the name of the instance, because nobody else does.
func (d *Double) joined(ctx context.Context, found subject, own netip.Addr) (reconcile.Result, error) {
	object := found.object
	identity := "kubevirt://" + object.GetName()
	if text(object, "spec", "providerID") != identity {
		if err := d.client.Patch(ctx, object, merge(map[string]any{"spec": map[string]any{"providerID": identity}})); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	told := report{ready: true, address: own, nodeUpdated: yes(object, "status", "nodeupdated")}
	var missing error
	if !told.nodeUpdated {
		missing = d.nameNode(ctx, object, text(found.machine, "spec", "clusterName"), identity)
		told.nodeUpdated = missing == nil
	}
	if err := d.tell(ctx, object, told); err != nil {
		return reconcile.Result{}, err
	}
	if missing != nil {
		return d.soon(), nil // the Node comes later; that is no failure
	}
	return reconcile.Result{}, nil
}

// tell writes the status, if it differs.
func (d *Double) tell(ctx context.Context, object *unstructured.Unstructured, told report) error {
	before, _, _ := unstructured.NestedMap(object.Object, "status")
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	status := told.status(object.GetName(), conditions, time.Now())
	if reflect.DeepEqual(before, status) {
		return nil
	}
	return client.IgnoreNotFound(d.client.Status().Patch(ctx, object, merge(map[string]any{"status": status})))
}

// nameNode gives the Node its provider ID. An error says what is missing.
func (d *Double) nameNode(ctx context.Context, object *unstructured.Unstructured, cluster, identity string) error {
	tenant, err := d.tenant(ctx, object.GetNamespace(), cluster)
	if err != nil {
		return err
	}
	node, err := tenant.CoreV1().Nodes().Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil || node.Spec.ProviderID == identity {
		return err
	}
	patch, err := merge(map[string]any{"spec": map[string]any{"providerID": identity}}).Data(node)
	if err != nil {
		return err
	}
	_, err = tenant.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the Node %s went away: %w", node.Name, err)
	}
	return err
}

// program is what the real provider's program is called, which the API server writes down beside the fields that it sets.
const program = "manager"

// tenant reaches the cluster that machines join.
func (d *Double) tenant(ctx context.Context, namespace, cluster string) (*kubernetes.Clientset, error) {
	secret := &corev1.Secret{}
	if err := d.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: cluster + "-kubeconfig"}, secret); err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", secret.Name, err)
	}
	config.Timeout, config.UserAgent = patience, program+"/v0.0.0"
	return kubernetes.NewForConfig(config)
}
