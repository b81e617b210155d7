// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
)

// portrayed are the kinds whose objects the operator writes, by what serves them.
var portrayed = map[string][]string{
	"minos.dev/v1alpha1":                       {"TalosCluster", "NodePool", "TalosMachine"},
	"v1":                                       {"Secret"},
	"cluster.x-k8s.io/v1beta2":                 {"Cluster", "MachineDeployment", "MachineHealthCheck"},
	"controlplane.cluster.x-k8s.io/v1alpha2":   {"KamajiControlPlane"},
	"infrastructure.cluster.x-k8s.io/v1alpha1": {"KubevirtCluster", "KubevirtMachineTemplate"},
}

// chance is what differs between two runs that do the same, and what stands for it.
var chance = []struct {
	found *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`127\.\d+\.\d+\.\d+`), "ADDRESS"},
	{regexp.MustCompile(`bootstrap-token-[0-9a-z]{6}`), "bootstrap-token-ID"},
	{regexp.MustCompile(`\b[0-9a-f]{8,}\b`), "HASH"},
	{regexp.MustCompile(`\bgeneral-[0-9a-z]{5}-[0-9a-z]{5}\b`), "general-MACHINE"},
	{regexp.MustCompile(`\bburst-[0-9a-z]{5}\b`), "burst-MACHINE"},
}

// portrait describes all that there is for the shop, without what is left to chance. It waits until there is what is wanted, or
// if nothing is, until it stays as it is and nothing old is left of a roll-out.
func (s *stage) portrait(wanted []string) []string {
	s.t.Helper()
	var found []string
	same := 0
	s.eventually(func(ctx context.Context) error {
		now, err := s.portray(ctx)
		if err != nil {
			return err
		}
		if same++; !slices.Equal(now, found) {
			same = 0
		}
		found = now
		templates := len(slices.DeleteFunc(slices.Clone(now), func(text string) bool { return !strings.HasPrefix(text, "KubevirtMachineTemplate") }))
		switch {
		case wanted != nil && !slices.Equal(now, wanted):
			return fmt.Errorf("it is otherwise than when the operator was left alone: %s", cmp.Diff(wanted, now))
		case wanted == nil && (same < 20 || templates != 1):
			return errors.New("it still changes")
		}
		return nil
	})
	return found
}

// portray describes what there is now.
func (s *stage) portray(ctx context.Context) ([]string, error) {
	var all []string
	for _, version := range slices.Sorted(maps.Keys(portrayed)) {
		for _, kind := range portrayed[version] {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(version)
			list.SetKind(kind)
			if err := s.client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
				return nil, err
			}
			for at := range list.Items {
				all = append(all, s.describe(&list.Items[at]))
			}
		}
	}
	inside, err := s.portrayTenant(ctx)
	if err != nil {
		return nil, err
	}
	for _, instance := range s.centre.Cloud.Instances() {
		inside = append(inside, s.plainly(fmt.Sprintf("instance %s is %s", instance.Name, instance.State)))
	}
	all = append(all, inside...)
	slices.Sort(all)
	return all, nil
}

// portrayTenant describes what there is in the tenant's cluster.
func (s *stage) portrayTenant(ctx context.Context) ([]string, error) {
	cluster := &api.TalosCluster{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "shop"}, cluster); err != nil {
		return nil, err
	}
	c, err := tenant.New(s.client).Client(ctx, cluster)
	if err != nil {
		return nil, err
	}
	ours := client.MatchingLabels{names.LabelManagedBy: names.Owner}
	tokens, roles, bindings, nodes := &corev1.SecretList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &corev1.NodeList{}
	if err := errors.Join(c.List(ctx, tokens, client.InNamespace(metav1.NamespaceSystem), ours), c.List(ctx, roles, ours), c.List(ctx, bindings, ours), c.List(ctx, nodes)); err != nil {
		return nil, err
	}
	var all []string
	for _, token := range tokens.Items {
		all = append(all, s.plainly(fmt.Sprintf("token %s %v %v", token.Name, token.Labels, slices.Sorted(maps.Keys(token.Data)))))
	}
	for _, role := range roles.Items {
		all = append(all, s.plainly(fmt.Sprintf("role %s %v", role.Name, role.Rules)))
	}
	for _, binding := range bindings.Items {
		all = append(all, s.plainly(fmt.Sprintf("binding %s %v %v", binding.Name, binding.RoleRef, binding.Subjects)))
	}
	for _, node := range nodes.Items {
		all = append(all, s.plainly(fmt.Sprintf("node %s %v %v %v", node.Name, node.Labels, slices.Sorted(maps.Keys(node.Annotations)), node.Spec.Unschedulable)))
	}
	return all, nil
}

// describe describes an object: what others put into it is left out.
func (s *stage) describe(object *unstructured.Unstructured) string {
	owners := []string{}
	for _, owner := range object.GetOwnerReferences() {
		owners = append(owners, owner.Kind+" "+owner.Name)
	}
	slices.Sort(owners)
	described := map[string]any{
		"labels": object.GetLabels(), "annotations": object.GetAnnotations(), "finalizers": object.GetFinalizers(), "owners": owners, "spec": object.Object["spec"],
	}
	if object.GetObjectKind().GroupVersionKind().Group == "minos.dev" {
		described["status"] = object.Object["status"]
	}
	if data, ok := object.Object["data"].(map[string]any); ok {
		described["data"] = slices.Sorted(maps.Keys(data))
	}
	text, err := json.MarshalIndent(described, "", "  ") // which quotes all texts: YAML does so with those that look like numbers
	if err != nil {
		return err.Error()
	}
	return s.plainly(fmt.Sprintf("%s %s\n%s", object.GetKind(), object.GetName(), text))
}

// plainly is a text without what is left to chance.
func (s *stage) plainly(text string) string {
	text = strings.ReplaceAll(text, s.namespace, "NS")
	for _, each := range chance {
		text = each.found.ReplaceAllString(text, each.put)
	}
	return text
}
