// SPDX-License-Identifier: Apache-2.0

package kamajitest

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"minos.dev/minos/sim/kubetest"
)

// Cluster is a Cluster on KubeVirt with a hosted control plane, in the form of fmt: its name, and that of the control
// plane.
const Cluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.243.0.0/16]}, services: {cidrBlocks: [10.95.0.0/16]}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KamajiControlPlane, name: %[2]s}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: KubevirtCluster, name: %[1]s}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtCluster
metadata: {name: %[1]s, annotations: {cluster.x-k8s.io/managed-by: kamaji}}
spec: {}
`

// Key is the name of a control plane in the site's namespace.
func (s *Site) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: name}
}

// Host waits until a control plane has an address, and returns it.
func (s *Site) Host(name string) string {
	s.T.Helper()
	var host string
	kubetest.Eventually(s.T, Within, func(ctx context.Context) error {
		object, err := s.Plane(ctx, name)
		if err != nil {
			return err
		}
		if host, _, _ = unstructured.NestedString(object.Object, "spec", "controlPlaneEndpoint", "host"); host == "" {
			return errors.New(name + " has no endpoint")
		}
		return nil
	})
	return host
}

// Initialized waits until Cluster API itself says that a Cluster's control plane and infrastructure are there.
func (s *Site) Initialized(cluster string) {
	s.T.Helper()
	kubetest.Eventually(s.T, Within, func(ctx context.Context) error {
		object, err := s.Get(ctx, "cluster.x-k8s.io/v1beta2", "Cluster", cluster)
		if err != nil {
			return err
		}
		for _, field := range []string{"infrastructureProvisioned", "controlPlaneInitialized"} {
			if yes, _, _ := unstructured.NestedBool(object.Object, "status", "initialization", field); !yes {
				return errors.New(cluster + ": " + field + " is not true")
			}
		}
		return nil
	})
}
