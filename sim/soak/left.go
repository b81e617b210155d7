// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// leftKinds are the kinds of others of which nothing may be left when all was removed.
func leftKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, kind := range []string{"Cluster", "MachineDeployment", "MachineSet", "Machine", "MachineHealthCheck"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: kind})
	}
	for _, kind := range []string{"KubevirtCluster", "KubevirtMachine", "KubevirtMachineTemplate"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: kind})
	}
	return append(kinds, schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1alpha2", Kind: "KamajiControlPlane"})
}

// left is what is left of others' objects, Secrets, and control planes on this machine. What stays of a tenant is not.
func (s *Stage) left(ctx context.Context) ([]string, error) {
	var found []string
	for _, kind := range leftKinds() {
		objects, err := s.list(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			found = append(found, fmt.Sprintf("%s %s/%s", kind.Kind, object.GetNamespace(), object.GetName()))
		}
	}
	secrets := &corev1.SecretList{}
	if err := s.client.List(ctx, secrets); err != nil {
		return nil, err
	}
	for _, secret := range secrets.Items {
		if clusterOf(secret.Namespace) != "" && secret.Name != tailscale {
			found = append(found, fmt.Sprintf("Secret %s/%s", secret.Namespace, secret.Name))
		}
	}
	folders, err := os.ReadDir(filepath.Join(s.options.Folder, "places", "kamaji"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		found = append(found, "the folder of control planes in "+folder.Name())
	}
	return found, nil
}
