// SPDX-License-Identifier: Apache-2.0

package kubetest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.MainWith(m, kubetest.Options{ClusterAPI: true}) }

// within bounds what Cluster API takes on a busy machine.
const within = 2 * time.Minute

// fleet is a cluster whose infrastructure is a kind made by hand, and three machines of it.
const fleet = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: fleet}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: HandCluster, name: fleet}
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: HandCluster
metadata: {name: fleet}
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: HandMachineTemplate
metadata: {name: workers}
spec: {template: {spec: {size: small}}}
---
apiVersion: v1
kind: Secret
metadata: {name: bootstrap, labels: {cluster.x-k8s.io/cluster-name: fleet}}
stringData: {value: "machine: {}"} # minos:not-secret: it holds none
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: workers}
spec:
  clusterName: fleet
  replicas: 3
  selector: {matchLabels: {pool: workers}}
  template:
    metadata: {labels: {pool: workers}}
    spec:
      clusterName: fleet
      bootstrap: {dataSecretName: bootstrap}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: HandMachineTemplate, name: workers}
`

// TestClusterAPIMakesMachines takes a MachineDeployment to running Machines with Cluster API's own controllers. The test
// is the infrastructure: it says that things are provisioned, and makes the Nodes.
func TestClusterAPIMakesMachines(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	for _, kind := range []string{"HandCluster", "HandMachine", "HandMachineTemplate"} {
		if err := kubetest.Install(t.Context(), c, handMade(kind)); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, namespace, fleet)
	kubeconfig(t, namespace, "fleet")
	place := infrastructure{c, namespace}
	kubetest.Eventually(t, within, place.provision)
	kubetest.Eventually(t, within, func(ctx context.Context) error { return place.running(ctx, 3) })

	scale(t, namespace, 1)
	kubetest.Eventually(t, within, func(ctx context.Context) error { return place.running(ctx, 1) })
}

// TestClusterAPIRefuses expects Cluster API's own webhooks to answer.
func TestClusterAPIRefuses(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	text := strings.Replace(fleet[strings.LastIndex(fleet, "---\n")+4:], "matchLabels: {pool: workers}", "matchLabels: {pool: others}", 1)
	err := c.Create(t.Context(), object(t, text, namespace))
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "must match spec.selector") {
		t.Errorf("a selector that selects other machines: %v", err)
	}
}

// handMade is the definition of an infrastructure kind that anything can be put into.
func handMade(kind string) *apiextensionsv1.CustomResourceDefinition {
	open, plural := true, strings.ToLower(kind)+"s"
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: plural + ".infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta1"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "infrastructure.cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open,
				}},
			}},
		},
	}
}

// object reads one object for a namespace.
func object(t *testing.T, text, namespace string) *unstructured.Unstructured {
	t.Helper()
	read := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), read); err != nil {
		t.Fatal(err)
	}
	read.SetNamespace(namespace)
	return read
}

// apply creates every object of a text.
func apply(t *testing.T, namespace, text string) {
	t.Helper()
	for _, part := range strings.Split(text, "---\n") {
		if err := kubetest.Client(t).Create(t.Context(), object(t, part, namespace)); err != nil {
			t.Fatal(err)
		}
	}
}

// kubeconfig tells Cluster API how to reach the cluster: it is the management cluster itself.
func kubeconfig(t *testing.T, namespace, cluster string) {
	t.Helper()
	text, err := os.ReadFile(kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: cluster + "-kubeconfig", Namespace: namespace, Labels: map[string]string{"cluster.x-k8s.io/cluster-name": cluster}},
		Data:       map[string][]byte{"value": text},
	}
	if err := kubetest.Client(t).Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// infrastructure does what an infrastructure provider does, in one namespace.
type infrastructure struct {
	client    client.Client
	namespace string
}

// list returns the objects of a kind.
func (i infrastructure) list(ctx context.Context, apiVersion, kind string) ([]unstructured.Unstructured, error) {
	found := &unstructured.UnstructuredList{}
	found.SetAPIVersion(apiVersion)
	found.SetKind(kind + "List")
	err := i.client.List(ctx, found, client.InNamespace(i.namespace))
	return found.Items, err
}

// provision says that cluster and machines are there; each machine becomes a Node.
func (i infrastructure) provision(ctx context.Context) error {
	for kind, want := range map[string]int{"HandCluster": 1, "HandMachine": 3} {
		found, err := i.list(ctx, "infrastructure.cluster.x-k8s.io/v1beta1", kind)
		if err != nil {
			return err
		}
		for at := range found {
			if err := i.provisionOne(ctx, &found[at]); err != nil {
				return err
			}
		}
		if len(found) != want {
			return fmt.Errorf("there are %d %s, want %d", len(found), kind, want)
		}
	}
	return nil
}

// provisionOne marks one object as provisioned.
func (i infrastructure) provisionOne(ctx context.Context, object *unstructured.Unstructured) error {
	if object.GetKind() == "HandMachine" {
		if err := unstructured.SetNestedField(object.Object, "hand://"+object.GetName(), "spec", "providerID"); err != nil {
			return err
		}
		if err := i.client.Update(ctx, object); err != nil {
			return err
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: object.GetName()}, Spec: corev1.NodeSpec{ProviderID: "hand://" + object.GetName()}}
		if err := client.IgnoreAlreadyExists(i.client.Create(ctx, node)); err != nil {
			return err
		}
	}
	if err := unstructured.SetNestedField(object.Object, true, "status", "initialization", "provisioned"); err != nil {
		return err
	}
	return i.client.Status().Update(ctx, object)
}

// running wants as many Machines that have become Nodes, and no others.
func (i infrastructure) running(ctx context.Context, want int) error {
	machines, err := i.list(ctx, "cluster.x-k8s.io/v1beta2", "Machine")
	if err != nil {
		return err
	}
	with := 0
	for _, machine := range machines {
		if node, _, _ := unstructured.NestedString(machine.Object, "status", "nodeRef", "name"); node != "" {
			with++
		}
	}
	if len(machines) != want || with != want {
		return fmt.Errorf("%d machines of which %d have a node, want %d", len(machines), with, want)
	}
	return nil
}

// scale changes the number of machines. Cluster API removes infrastructure objects itself: nothing holds them here.
func scale(t *testing.T, namespace string, replicas int64) {
	t.Helper()
	deployment := object(t, fleet[strings.LastIndex(fleet, "---\n")+4:], namespace)
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := kubetest.Client(t).Patch(t.Context(), deployment, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
}
