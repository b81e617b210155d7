// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"minos.dev/minos/sim/conduct"
)

// finalizer is the one of the real provider.
const finalizer = "kubevirtmachine.infrastructure.cluster.x-k8s.io"

// A subject is one KubevirtMachine with what it belongs to.
type subject struct {
	object  *unstructured.Unstructured
	machine *unstructured.Unstructured // Cluster API's
	cluster *unstructured.Unstructured // Cluster API's
}

// reconcileMachine has one machine made, told of and removed, in the order of the real provider.
func (d *Double) reconcileMachine(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := kind(machineKind)
	if err := d.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		return d.remove(ctx, object)
	}
	found, err := d.find(ctx, object)
	if err != nil || found == nil {
		return reconcile.Result{}, err
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return reconcile.Result{}, client.IgnoreNotFound(d.client.Patch(ctx, object, merge(map[string]any{"metadata": map[string]any{
			"finalizers": object.GetFinalizers(), "resourceVersion": object.GetResourceVersion(),
		}})))
	}
	if !yes(found.cluster, "status", "initialization", "infrastructureProvisioned") {
		return d.waits(ctx, object, waitingForCluster, "the cluster's infrastructure is not there yet")
	}
	data, why, err := d.bootstrap(ctx, found.machine)
	if err != nil {
		return reconcile.Result{}, err
	}
	if why != "" {
		return d.waits(ctx, object, waitingForBootstrap, why)
	}
	return d.provision(ctx, *found, data)
}

// find returns what a KubevirtMachine belongs to; nil if Cluster API has not said so yet, or has paused it.
func (d *Double) find(ctx context.Context, object *unstructured.Unstructured) (*subject, error) {
	if _, paused := object.GetAnnotations()["cluster.x-k8s.io/paused"]; paused {
		return nil, nil
	}
	found := &subject{object: object, machine: kind(coreMachineKind), cluster: kind(coreClusterKind)}
	owner := ""
	for _, reference := range object.GetOwnerReferences() {
		if reference.Kind == coreMachineKind.Kind {
			owner = reference.Name
		}
	}
	if owner == "" {
		return nil, nil
	}
	if err := d.client.Get(ctx, types.NamespacedName{Namespace: object.GetNamespace(), Name: owner}, found.machine); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	name := text(found.machine, "spec", "clusterName")
	if err := d.client.Get(ctx, types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, found.cluster); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if yes(found.cluster, "spec", "paused") {
		return nil, nil
	}
	return found, nil
}

// bootstrap reads a machine's user data and copies it to where KubeVirt looks for it. It says in words what is missing.
func (d *Double) bootstrap(ctx context.Context, core *unstructured.Unstructured) (data []byte, missing string, err error) {
	name := text(core, "spec", "bootstrap", "dataSecretName")
	if name == "" {
		return nil, "the Machine has no bootstrap.dataSecretName yet", nil
	}
	secret := &corev1.Secret{}
	err = d.client.Get(ctx, types.NamespacedName{Namespace: core.GetNamespace(), Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("Secret %s does not exist", name), nil
	}
	if err != nil {
		return nil, "", err
	}
	value, ok := secret.Data["value"]
	if !ok {
		return nil, fmt.Sprintf("Secret %s has no key value", name), nil
	}
	drive := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: core.GetNamespace(), Name: name + "-userdata"}}
	_, err = controllerutil.CreateOrUpdate(ctx, d.client, drive, func() error {
		drive.Labels, drive.Data = secret.Labels, map[string][]byte{"userdata": value}
		drive.Type = "cluster.x-k8s.io/secret"
		return nil
	})
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return value, "", nil // another machine of the pool has just written the same
	}
	return value, "", err
}

// provision has the machine run and tells of it.
func (d *Double) provision(ctx context.Context, found subject, data []byte) (reconcile.Result, error) {
	object := found.object
	guest, err := readGuest(object)
	if err != nil {
		return d.waits(ctx, object, createFailed, err.Error())
	}
	if wait := d.importing(object); wait > 0 {
		_, err := d.waits(ctx, object, notRunning, "the disk is being imported")
		return reconcile.Result{RequeueAfter: wait}, err
	}
	name := nameOf(object.GetNamespace(), object.GetName())
	refused, lost := "", false
	if d.options.Rack.Machine(name) == nil && text(object, "spec", "providerID") == "" {
		if refused, lost, err = d.ask(ctx, conduct.Create, name); err != nil {
			return reconcile.Result{}, err
		}
		if refused != "" {
			return d.waits(ctx, object, createFailed, refused)
		}
	}
	running, err := d.hypervisor.ensure(vm{
		namespace: object.GetNamespace(), name: object.GetName(), identity: string(object.GetUID()), guest: guest, userData: data,
	})
	switch {
	case err != nil:
		return d.waits(ctx, object, createFailed, err.Error())
	case lost:
		return d.waits(ctx, object, createFailed, "no answer came from KubeVirt")
	case d.hypervisor.isDead(name):
		running.Kill()
		return d.waits(ctx, object, notRunning, "the virtual machine died")
	}
	own, err := d.hypervisor.address(name)
	if err != nil {
		return reconcile.Result{}, err
	}
	return d.joined(ctx, found, own)
}

// importing is how long it takes until the machine's disk is there.
func (d *Double) importing(object *unstructured.Unstructured) time.Duration {
	start := d.options.Keeper.Scaled(d.options.Keeper.Behaviour().Start.Duration)
	return time.Until(object.GetCreationTimestamp().Add(start))
}

// ask lets the place decide about a call. It says in words why a call is refused, and whether its answer is lost.
func (d *Double) ask(ctx context.Context, call conduct.Call, name string) (refused string, lost bool, err error) {
	turn, err := d.options.Keeper.Ask(ctx, call, name)
	if err != nil {
		return "", false, err
	}
	quota := d.options.Keeper.Behaviour().Quota
	switch {
	case turn.TooFast > 0:
		return "the API server answers: too many requests", false, nil
	case turn.Wrong == conduct.Revokes:
		return "the API server answers: unauthorized", false, nil
	case turn.Wrong == conduct.Refuses:
		return "the API server answers: the server is currently unable to handle the request", false, nil
	case turn.Wrong == conduct.Full, call == conduct.Create && quota > 0 && len(d.options.Rack.Machines()) >= quota:
		return "the API server answers: exceeded quota", false, nil
	case turn.Wrong == conduct.FailsInstance:
		return "the virtual machine cannot be scheduled: no host has room for it", false, nil
	}
	return "", turn.Wrong == conduct.LosesAnswer, nil
}

// remove takes the machine away and lets the object go. It needs neither Machine nor Cluster: they may be gone.
func (d *Double) remove(ctx context.Context, object *unstructured.Unstructured) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return reconcile.Result{}, nil
	}
	name := nameOf(object.GetNamespace(), object.GetName())
	if wait := time.Until(object.GetDeletionTimestamp().Add(d.options.Keeper.Scaled(d.options.Keeper.Behaviour().Stop.Duration))); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	refused, lost, err := d.ask(ctx, conduct.Delete, name)
	if err != nil || refused != "" {
		return d.soon(), err
	}
	if err := d.forgetUserData(ctx, object); err != nil {
		return reconcile.Result{}, err
	}
	if err := d.hypervisor.remove(object.GetNamespace(), object.GetName(), string(object.GetUID())); err != nil {
		return reconcile.Result{}, err
	}
	d.say(name, "the virtual machine is gone")
	if lost {
		return d.soon(), nil
	}
	controllerutil.RemoveFinalizer(object, finalizer)
	return reconcile.Result{}, client.IgnoreNotFound(d.client.Update(ctx, object))
}

// forgetUserData removes the copy of the user data, as the real provider does with every machine: also where other machines of
// the pool have the same one. It comes back as soon as one of those is looked at.
func (d *Double) forgetUserData(ctx context.Context, object *unstructured.Unstructured) error {
	found, err := d.find(ctx, object)
	if err != nil || found == nil {
		return err
	}
	name := text(found.machine, "spec", "bootstrap", "dataSecretName")
	if name == "" {
		return nil
	}
	drive := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: name + "-userdata"}}
	return client.IgnoreNotFound(d.client.Delete(ctx, drive))
}

// merge is a patch of some fields.
func merge(fields map[string]any) client.Patch {
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of texts are always written
	}
	return client.RawPatch(types.MergePatchType, text)
}
