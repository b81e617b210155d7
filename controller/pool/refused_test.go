// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/sim/kubetest"
)

// another is the pool with other words in it.
func another(words ...string) string { return strings.NewReplacer(words...).Replace(declaredPool) }

// remove deletes an object, and waits until it is gone.
func (s *stage) remove(object client.Object) {
	s.t.Helper()
	c := kubetest.Client(s.t)
	object.SetNamespace(s.namespace)
	if err := c.Delete(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			return errors.Join(fmt.Errorf("%s is still there: %+v", object.GetName(), object), err)
		}
		return nil
	})
}

// TestRefused has pools that cannot be carried out: each says why, makes nothing, and goes on when the cause is gone.
func TestRefused(t *testing.T) {
	s := newQuiet(t)
	s.own = "127.0.0.1"
	s.apply(declaredCluster)
	s.apply(declaredLocation)
	s.ready()

	s.apply(another("workers", "first", "role: plain", "role: gateway", "replicas: 2", "replicas: 1"))
	s.says("first", api.ConditionRoleReady, api.ReasonReady, "role gateway")
	s.apply(another("workers", "second", "role: plain", "role: gateway", "replicas: 2", "replicas: 1"))
	s.says("second", api.ConditionRoleReady, api.ReasonDenied, "NodePool first came first")
	s.apply(another("workers", "lost", "role: plain", "role: unheard-of"))
	s.says("lost", api.ConditionRoleReady, api.ReasonNotFound, "unheard-of")
	s.apply(another("workers", "house", "kind: Location, name: here", "kind: ClusterLocation, name: "+s.namespace))
	s.says("house", api.ConditionLocationReady, api.ReasonNotFound, "does not exist")
	s.apply(another("workers", "simulated", "kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}", "sim: {}"))
	s.says("simulated", api.ConditionLocationReady, api.ReasonInvalid, "makes kubevirt machines")

	place := &api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}, Spec: api.LocationSpec{KubeVirt: &api.KubeVirtLocation{}}}
	place.Spec.KubeVirt.Namespaces = &api.NamespaceSelector{MatchLabels: map[string]string{"example.com/tenant": "true"}}
	if err := kubetest.Client(t).Create(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kubetest.Client(t).Delete(context.Background(), place) })
	s.says("house", api.ConditionLocationReady, api.ReasonDenied, "the namespace needs the labels example.com/tenant=true")
	s.labelNamespace()
	s.says("house", api.ConditionLocationReady, api.ReasonReady, "ClusterLocation")

	s.remove(&api.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "first"}})
	s.says("second", api.ConditionRoleReady, api.ReasonReady, "role gateway")
	deployments, err := s.list(t.Context(), virtual.DeploymentKind)
	if err != nil || len(deployments) > 0 {
		t.Errorf("%d MachineDeployments were made, %v", len(deployments), err)
	}
}

// labelNamespace makes the namespace one that the platform offers its place to.
func (s *stage) labelNamespace() {
	s.t.Helper()
	namespace := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	namespace.SetGroupVersionKind(coreKind("Namespace"))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"example.com/tenant":"true"}}}`))
	if err := kubetest.Client(s.t).Patch(s.t.Context(), namespace, patch); err != nil {
		s.t.Fatal(err)
	}
}

// TestAKindComesLater has a pool that needs a kind which is not served, and goes on when it is.
func TestAKindComesLater(t *testing.T) {
	s := newQuiet(t)
	s.own = "127.0.0.1"
	s.apply(declaredCluster)
	s.apply(declaredLocation)
	s.ready()
	s.apply(another("kubevirt: {", "kubevirt: {bootstrap: TalosConfigTemplate, "))
	s.says("workers", api.ConditionLocationReady, api.ReasonNotFound, "does not serve TalosConfigTemplate (bootstrap.cluster.x-k8s.io/v1alpha3, of Cluster API's bootstrap provider for Talos)")
	definition := kubetest.StandIn()
	definition.Name, definition.Spec.Group = "talosconfigtemplates.bootstrap.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"
	definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "talosconfigtemplates", Singular: "talosconfigtemplate", Kind: "TalosConfigTemplate", ListKind: "TalosConfigTemplateList",
	}
	definition.Spec.Versions[0].Name = "v1alpha3"
	if err := kubetest.Install(t.Context(), kubetest.Client(t), definition); err != nil {
		t.Fatal(err)
	}
	s.says("workers", api.ConditionLocationReady, api.ReasonReady, "Location here")
}

// TestDeletedAfterItsCluster deletes a pool whose cluster was torn away: its API server is dead, and its objects are gone.
func TestDeletedAfterItsCluster(t *testing.T) {
	s := newStage(t)
	s.openCluster()
	s.apply(declaredLocation)
	s.apply(another("replicas: 2", "replicas: 1\n  rollout: {drainTimeoutSeconds: 0}"))
	s.activate("workers")
	s.wait(1)
	if err := s.plane.Stop(); err != nil {
		t.Fatal(err)
	}
	s.stopped = true
	s.remove(&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	s.tearAway()
	s.remove(&api.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "workers"}})
	s.nothingLeft()
}

// tearAway takes Cluster API's Cluster away, without what its controller would do first.
func (s *stage) tearAway() {
	s.t.Helper()
	clusters, err := s.list(s.t.Context(), virtual.ClusterKind)
	if err != nil || len(clusters) != 1 {
		s.t.Fatal(len(clusters), err)
	}
	c := kubetest.Client(s.t)
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		cluster := &clusters[0]
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := client.IgnoreNotFound(c.Delete(ctx, cluster.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationOrphan))); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(c.Patch(ctx, cluster.DeepCopy(), patch)); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cluster), cluster.DeepCopy()); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the Cluster is still there"), err)
		}
		return nil
	})
}
