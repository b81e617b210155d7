// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// remove ends a control plane for good: processes, Secrets, folder and address, and last what holds the object. Each step
// may be done already, so that it can be cut off anywhere. The Cluster may be gone.
func (t *tenant) remove(ctx context.Context, object *unstructured.Unstructured) error {
	t.pod.kill()
	if err := t.removeSecrets(ctx, object); err != nil {
		return err
	}
	if err := t.clear(); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(object, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(t.kamaji.client.Update(ctx, object))
}

// clear removes what a control plane has on this machine.
func (t *tenant) clear() error {
	t.pod.kill()
	if err := os.RemoveAll(t.folder); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(t.folder)) // the namespace's folder goes with the last one in it
	if ways := t.kamaji.options.Ways; ways != nil {
		if err := ways.Close(t.key.String()); err != nil {
			return err
		}
	}
	return t.kamaji.options.Network.Give(t.key.String())
}
