// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer holds a control plane until its processes and its folder are gone.
const finalizer = "sim.minos.dev/kamaji"

// A tenant is one control plane. All that it has belongs to the goroutine that tends it, so that one that is slow or
// broken holds up no other.
type tenant struct {
	kamaji *Kamaji
	key    types.NamespacedName
	uid    types.UID
	kind   schema.GroupVersionKind
	folder string
	log    teller

	woken chan struct{}
	over  chan struct{}

	pod pod
	// rolling is since when another version is rolled out.
	rolling time.Time
}

// newTenant prepares what tends a control plane.
func newTenant(k *Kamaji, object *unstructured.Unstructured) *tenant {
	key := client.ObjectKeyFromObject(object)
	log := k.options.Log.With("controlPlane", key.String())
	t := &tenant{
		kamaji: k, key: key, uid: object.GetUID(), kind: object.GroupVersionKind(),
		folder: filepath.Join(k.options.Folder, key.Namespace, key.Name),
		log:    teller{log: log}, woken: make(chan struct{}, 1), over: make(chan struct{}),
	}
	t.pod = pod{folder: t.folder, log: log, audit: k.options.Audit}
	return t
}

// wake has it look at its control plane soon.
func (t *tenant) wake() {
	select {
	case t.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// ended says whether nobody tends it any more.
func (t *tenant) ended() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// tend brings a control plane closer to its spec whenever it is woken, until it is gone or the context ends.
func (t *tenant) tend(ctx context.Context) {
	defer close(t.over)
	defer t.pod.kill()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.woken:
		}
		gone, err := t.step(ctx)
		if apierrors.IsConflict(err) {
			t.wake() // somebody else wrote meanwhile, which is nobody's fault
			continue
		}
		t.log.tell(ctx, err)
		if gone && err == nil {
			return
		}
	}
}

// step does what can be done now. It says whether the control plane is gone for good.
func (t *tenant) step(ctx context.Context) (gone bool, err error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(t.kind)
	err = t.kamaji.client.Get(ctx, t.key, object)
	switch {
	case apierrors.IsNotFound(err) || err == nil && object.GetUID() != t.uid:
		return true, t.clear() // removed by force, and perhaps made anew
	case err != nil:
		return false, err
	case !object.GetDeletionTimestamp().IsZero():
		return true, t.remove(ctx, object)
	}
	return false, t.reconcile(ctx, object)
}

// reconcile goes through what Kamaji and its provider do, in their order.
func (t *tenant) reconcile(ctx context.Context, object *unstructured.Unstructured) error {
	owner := ownerOf(object)
	if owner == "" {
		return errors.New("waiting: Cluster API has not made a Cluster its owner yet")
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"})
	if err := t.kamaji.client.Get(ctx, types.NamespacedName{Namespace: t.key.Namespace, Name: owner}, found); err != nil {
		return fmt.Errorf("its Cluster: %w", err)
	}
	cluster, err := readCluster(found)
	if err != nil {
		return err
	}
	turn := &turn{tenant: t, object: object, cluster: cluster, faults: t.kamaji.faultsOf(t.key), report: readReport(object)}
	if _, paused := object.GetAnnotations()["cluster.x-k8s.io/paused"]; paused || cluster.Spec.Paused {
		turn.report.set("Paused", "Paused", nil)
		return turn.write(ctx)
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		if err := t.kamaji.client.Update(ctx, object); err != nil {
			return err
		}
	}
	return turn.run(ctx)
}
