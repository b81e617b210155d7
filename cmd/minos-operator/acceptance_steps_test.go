// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// namespaceActive wants the namespace to be there for good.
func (s *stage) namespaceActive(ctx context.Context, _ string) error {
	found := &corev1.Namespace{}
	err := s.client.Get(ctx, client.ObjectKey{Name: s.namespace}, found)
	if err == nil && found.Status.Phase != corev1.NamespaceActive {
		err = fmt.Errorf("it is %s", found.Status.Phase)
	}
	return err
}

// others reads somebody else's object.
func (s *stage) others(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kind)
	return found, s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found)
}

var (
	planeKind      = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1alpha2", Kind: "KamajiControlPlane"}
	deploymentKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"}
	machineKind    = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	virtualKind    = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachine"}
	templateKind   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"}
)

func (s *stage) planeAsked(ctx context.Context, name string) error {
	_, err := s.others(ctx, planeKind, name)
	return err
}

func (s *stage) planeMade(ctx context.Context, name string) error {
	plane, err := s.others(ctx, planeKind, name)
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(plane.Object, "status", "conditions")
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if condition["type"] == "TenantControlPlaneCreated" && condition["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("it has the conditions %v", conditions)
}

func (s *stage) planeRuns(ctx context.Context, name string) error {
	plane, err := s.others(ctx, planeKind, name)
	if err != nil {
		return err
	}
	isReady, _, _ := unstructured.NestedBool(plane.Object, "status", "ready")
	runs, _, _ := unstructured.NestedString(plane.Object, "status", "version")
	if !isReady || runs != releases[name] {
		return fmt.Errorf("it is ready: %t, and runs %q", isReady, runs)
	}
	cluster := &api.TalosCluster{}
	err = s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, cluster)
	if err == nil && string(cluster.Status.KubernetesVersion) != releases[name] {
		err = fmt.Errorf("the cluster says that it runs %q", cluster.Status.KubernetesVersion)
	}
	return err
}

// deployment wants two of something.
func (s *stage) deployment(ctx context.Context, name, of string) error {
	found, err := s.others(ctx, deploymentKind, name+"-md0")
	if err != nil {
		return err
	}
	if count, _, _ := unstructured.NestedInt64(found.Object, "status", of); count != 2 {
		return fmt.Errorf("%s is %d: %v", of, count, found.Object["status"])
	}
	return nil
}

// identities are those of a cluster's machines, of which there must be two, and of what stands behind them.
func (s *stage) identities(ctx context.Context, name string) ([]string, error) {
	var all []string
	for _, kind := range []schema.GroupVersionKind{machineKind, virtualKind} {
		found := &unstructured.UnstructuredList{}
		found.SetGroupVersionKind(kind)
		if err := s.client.List(ctx, found, client.InNamespace(s.namespace), client.MatchingLabels{"cluster.x-k8s.io/cluster-name": name}); err != nil {
			return nil, err
		}
		for _, one := range found.Items {
			all = append(all, kind.Kind+" "+one.GetName()+" "+string(one.GetUID()))
		}
	}
	slices.Sort(all)
	if len(all) != 4 {
		return nil, fmt.Errorf("there are %v", all)
	}
	return all, nil
}

// inside reaches a cluster as its administrators do: with the Secret by which others know it.
func (s *stage) inside(ctx context.Context, name string) (*kubernetes.Clientset, error) {
	secret := &corev1.Secret{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name + "-admin-kubeconfig"}, secret); err != nil {
		return nil, err
	}
	if len(secret.Data["super-admin.svc"]) == 0 {
		return nil, fmt.Errorf("there is no key super-admin.svc in %v", secret.Name)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["super-admin.conf"])
	if err != nil {
		return nil, fmt.Errorf("key super-admin.conf: %w", err)
	}
	return kubernetes.NewForConfig(config)
}

func (s *stage) kubeconfigWorks(ctx context.Context, name string) error {
	inside, err := s.inside(ctx, name)
	if err != nil {
		return err
	}
	text, err := inside.RESTClient().Get().AbsPath("/healthz").DoRaw(ctx)
	if err == nil && string(text) != "ok" {
		err = fmt.Errorf("/healthz says %q", text)
	}
	if err == nil {
		_, err = inside.ServerVersion()
	}
	return err
}

// readyNodes are the Nodes of a cluster, of which there must be two that are Ready.
func (s *stage) readyNodes(ctx context.Context, name string) ([]corev1.Node, error) {
	inside, err := s.inside(ctx, name)
	if err != nil {
		return nil, err
	}
	nodes, err := inside.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	ready := slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool {
		return !slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
		})
	})
	if len(ready) != 2 {
		return nil, fmt.Errorf("%d nodes are ready", len(ready))
	}
	return ready, nil
}

func (s *stage) kubelets(ctx context.Context, name string) error {
	nodes, err := s.readyNodes(ctx, name)
	for _, node := range nodes {
		if version := node.Status.NodeInfo.KubeletVersion; version != releases[name] {
			err = errors.Join(err, fmt.Errorf("the kubelet of %s is %s", node.Name, version))
		}
	}
	return err
}

func (s *stage) schedulable(ctx context.Context, name string) error {
	nodes, err := s.readyNodes(ctx, name)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		shut := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule })
		if !node.Spec.Unschedulable && !shut {
			return nil
		}
	}
	return fmt.Errorf("none of %d nodes is", len(nodes))
}

// consoleLogged wants the template of machines to say so.
func (s *stage) consoleLogged(ctx context.Context, name string) error {
	deployment, err := s.others(ctx, deploymentKind, name+"-md0")
	if err != nil {
		return err
	}
	uses, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "infrastructureRef", "name")
	template, err := s.others(ctx, templateKind, uses)
	if err != nil {
		return err
	}
	logged, _, _ := unstructured.NestedBool(template.Object,
		"spec", "template", "spec", "virtualMachineTemplate", "spec", "template", "spec", "domain", "devices", "logSerialConsole")
	if !logged {
		return fmt.Errorf("the template %s is %v", uses, template.Object["spec"])
	}
	return nil
}

// drained deletes pools and then clusters, and wants nothing to be left of either.
func (s *stage) drained() {
	s.t.Helper()
	for name := range releases {
		cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		if err := s.client.Delete(s.t.Context(), cluster); err == nil || !strings.Contains(err.Error(), "has the pools "+name+"-md0") {
			s.t.Errorf("a cluster with a pool is deleted: %v", err)
		}
		pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name + "-md0"}}
		if err := s.client.Delete(s.t.Context(), pool); err != nil {
			s.t.Fatal(err)
		}
	}
	for name := range releases {
		pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name + "-md0"}}
		s.eventually(func(ctx context.Context) error { return s.gone(ctx, pool) })
	}
	if machines := s.centre.Rack.Machines(); len(machines) > 0 {
		s.t.Errorf("there are machines left: %v", machines)
	}
	for name := range releases {
		cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		s.eventually(func(ctx context.Context) error { return client.IgnoreNotFound(s.client.Delete(ctx, cluster)) })
		s.eventually(func(ctx context.Context) error { return s.gone(ctx, cluster) })
	}
	s.eventually(s.nothingLeft)
}
