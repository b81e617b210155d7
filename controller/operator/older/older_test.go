// SPDX-License-Identifier: Apache-2.0

package older_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kubetest"
)

// shop is a cluster with a worker.
const shop = `
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house-NS}
spec: {kubevirt: {namespaces: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.35.2
  talosVersion: v1.13.9
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house-NS}
  replicas: 1
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
`

// The two versions of the definition, and its name.
const (
	older, newer = "v1alpha1", "v1alpha2"
	definition   = "kamajicontrolplanes.controlplane.cluster.x-k8s.io"
)

// TestOlderKamaji takes a cluster to a Ready worker where only the older version of KamajiControlPlane is served, and follows when
// the newer comes, and when the older goes: no machine is touched, and the cluster can be changed and deleted.
func TestOlderKamaji(t *testing.T) {
	kubetest.InstallModule(t, crds.KubeVirt, "")
	if err := kubetest.Install(t.Context(), kubetest.Client(t), legacy()); err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	s.apply(shop)
	s.eventually(s.isReady)
	plane := s.plane(older)
	if group, _, _ := unstructured.NestedString(plane.Object, "spec", "kubelet", "cgroupfs"); group != "systemd" {
		t.Errorf("what the older version needs is %q", group)
	}
	machines, nodes := s.machines(), s.nodes()

	s.upgrade(true)
	s.eventually(func(context.Context) error { return appliedIn(s.plane(newer), newer) })
	if _, has, _ := unstructured.NestedString(s.plane(newer).Object, "spec", "kubelet", "cgroupfs"); has {
		t.Error("what the newer version does not know is still there")
	}
	s.upgrade(false)
	s.change(`{"spec":{"controlPlane":{"kamaji":{"replicas":3}}}}`)
	s.eventually(func(ctx context.Context) error {
		plane := s.plane(newer)
		wanted, _, _ := unstructured.NestedInt64(plane.Object, "spec", "replicas")
		ready, _, _ := unstructured.NestedInt64(plane.Object, "status", "readyReplicas")
		if wanted != 3 || ready != 3 {
			return fmt.Errorf("%d of %d copies are ready, want 3", ready, wanted)
		}
		return s.isReady(ctx)
	})
	if after := s.machines(); !slices.Equal(machines, after) {
		t.Errorf("the machines are %v, and were %v", after, machines)
	}
	if after := s.nodes(); !slices.Equal(nodes, after) {
		t.Errorf("the nodes are %v, and were %v", after, nodes)
	}
	s.deleted()
}

// legacy is the definition of the older version, into which anything can be put.
func legacy() *apiextensionsv1.CustomResourceDefinition {
	yes := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: definition, Labels: map[string]string{"cluster.x-k8s.io/v1beta1": older}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "controlplane.cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "kamajicontrolplanes", Singular: "kamajicontrolplane", Kind: "KamajiControlPlane", ListKind: "KamajiControlPlaneList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: older, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &yes,
				}},
			}},
		},
	}
}

// upgrade installs the newer version of the definition beside the older one, which is served on or not. Kamaji is upgraded with it,
// and starts again.
func (s *stage) upgrade(both bool) {
	s.t.Helper()
	found, err := crds.Of(s.t.Context(), crds.Kamaji, crds.KamajiVersion)
	if err != nil {
		s.t.Fatal(err)
	}
	at := slices.IndexFunc(found, func(one *apiextensionsv1.CustomResourceDefinition) bool { return one.Name == definition })
	installed := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: definition}, installed); err != nil {
		s.t.Fatal(err)
	}
	installed.Labels = found[at].Labels
	kept := legacy().Spec.Versions[0]
	kept.Served, kept.Storage = both, false
	installed.Spec.Versions = append(slices.Clone(found[at].Spec.Versions), kept)
	s.close()
	if err := s.client.Update(s.t.Context(), installed); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(func(ctx context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: newer, Kind: "KamajiControlPlaneList"})
		return s.client.List(ctx, list)
	})
	s.open()
}

// appliedIn wants what the operator set of an object to be set in a version.
func appliedIn(object *unstructured.Unstructured, version string) error {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == names.Owner && entry.Operation == metav1.ManagedFieldsOperationApply && strings.HasSuffix(entry.APIVersion, "/"+version) {
			return nil
		}
	}
	text, err := json.Marshal(object.GetManagedFields())
	return fmt.Errorf("the operator did not apply it in %s: %s, %w", version, text, err)
}

// deleted deletes all of it in order, and wants none of it to be left.
func (s *stage) deleted() {
	s.t.Helper()
	for _, object := range []client.Object{
		&api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "workers"}},
		&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "shop"}},
	} {
		if err := s.client.Delete(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
		s.eventually(func(ctx context.Context) error {
			err := s.client.Get(ctx, client.ObjectKeyFromObject(object), object)
			if err == nil {
				return fmt.Errorf("%s is still there", object.GetName())
			}
			return client.IgnoreNotFound(err)
		})
	}
	if left := s.centre.Rack.Machines(); len(left) > 0 {
		s.t.Errorf("there are machines left: %v", left)
	}
}
