// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// denied are the rights that a tenant must not have in its own namespace, by resource and group; those with a "/" at the end are of
// no namespace.
const denied = `
secrets                                             get list watch update patch delete deletecollection
talosmachines.minos.dev                             create update patch deletecollection
talosclusters.minos.dev/status                      update patch
nodepools.minos.dev/status                          update patch
talosmachines.minos.dev/status                      update patch
locations.minos.dev                                 create update patch delete
pods                                                create update patch
pods/exec                                           create get
serviceaccounts/token                               create
roles.rbac.authorization.k8s.io                     create update patch
rolebindings.rbac.authorization.k8s.io              create update patch
kamajicontrolplanes.controlplane.cluster.x-k8s.io   create update patch
machinedeployments.cluster.x-k8s.io                 create update patch
machines.cluster.x-k8s.io                           create update patch
kubevirtmachinetemplates.infrastructure.cluster.x-k8s.io create
noderoles.minos.dev                                 create update patch delete
clusterlocations.minos.dev                          create update patch delete
namespaces                                          create update patch delete
`

// hasNoRights asks the API server for the tenant's rights, and tries those by which it would go around all else.
func (x *tenancy) hasNoRights() {
	x.t.Helper()
	for line := range strings.Lines(strings.TrimSpace(denied)) {
		words := strings.Fields(line)
		for _, verb := range words[1:] {
			for _, namespace := range []string{x.own, x.namespace, operatorNamespace} {
				x.may(verb, words[0], namespace, false)
			}
		}
	}
	for _, resource := range []string{"secrets", "talosclusters.minos.dev", "nodepools.minos.dev"} {
		x.may("create", resource, x.own, true)
		x.may("create", resource, x.namespace, false)
		x.may("get", resource, x.namespace, false)
		x.may("list", resource, "", false)
	}
	secret := &corev1.Secret{}
	for _, key := range []client.ObjectKey{{Namespace: x.own, Name: "mine-talos-secrets"}, {Namespace: x.namespace, Name: "shop-kubeconfig"}} {
		if err := x.as.Get(x.t.Context(), key, secret); !apierrors.IsForbidden(err) {
			x.t.Errorf("the tenant reads Secret %s: %v", key, err)
		}
	}
}

// may wants the tenant to have a right, or not to.
func (x *tenancy) may(verb, resource, namespace string, want bool) {
	x.t.Helper()
	whole, part, _ := strings.Cut(resource, "/")
	name, group, _ := strings.Cut(whole, ".")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: alice, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: name, Subresource: part},
	}}
	if err := x.client.Create(x.t.Context(), review); err != nil || review.Status.Allowed != want {
		x.t.Errorf("that the tenant may %s %s in namespace %q is %t, %v", verb, resource, namespace, review.Status.Allowed, err)
	}
}

// plants makes the tenant's Secrets: kubeconfigs, and what the operator would take for its own.
func (x *tenancy) plants() {
	x.t.Helper()
	for name, one := range kubeconfigs {
		x.plant(name, x.fill.Replace(fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],
			clusters: [{name: x, cluster: {%s}}], users: [{name: x, user: {%s}}]}`, one.cluster, one.user)))
	}
	x.plant("garbage", "*"+x.token)

	// The policy holds a moment after it was installed.
	for _, purpose := range []string{names.PurposeIdentity, names.PurposeJoin, names.PurposeSigner, names.PurposeAccess} {
		name := "planted-" + purpose
		x.eventually(func(ctx context.Context) error {
			err := x.as.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: x.own, Name: name, Labels: names.Purpose("planted", "", purpose)}})
			if err != nil && strings.Contains(err.Error(), "the label minos.dev/purpose is the operator's to give") {
				return nil
			}
			_ = x.client.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: x.own, Name: name}}) // for the next try
			return fmt.Errorf("a Secret with purpose %s is made: %w", purpose, err)
		})
	}
	born := &corev1.Secret{}
	if err := x.client.Get(x.t.Context(), client.ObjectKey{Namespace: x.own, Name: "mine-talos-secrets"}, born); err != nil {
		x.t.Fatal(err)
	}
	x.plant("planted-talos-secrets", string(born.Data["secrets.yaml"]))
	x.plant("greedy-join", "x")
	planted, greedy := hosting("planted", "", ""), pooled("greedy", "role", "plain")
	x.make(x.as, planted)
	x.make(x.as, greedy)
	x.saysOf(planted, "the Secret planted-talos-secrets was not made by the operator")
	x.saysOf(greedy, "the Secret greedy-join belongs to somebody else")
}

// plant makes a Secret as the tenant.
func (x *tenancy) plant(name, text string) {
	x.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: x.own, Name: name}, Data: map[string][]byte{"value": []byte(text), names.IdentityKey: []byte(text)},
	}
	if err := x.as.Create(x.t.Context(), secret); err != nil {
		x.t.Fatal(err)
	}
}

// burgles has a pool wait for a place of the platform's, which is then offered to somebody else: the webhook saw neither.
func (x *tenancy) burgles() {
	x.t.Helper()
	early := pooled("early", "locationRef", "{kind: ClusterLocation, name: vault-NS}")
	x.make(x.as, early)
	x.saysOf(early, "ClusterLocation vault-NS does not exist")
	x.make(x.client, vault)
	place := &api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: x.fill.Replace("vault-NS")}}
	x.t.Cleanup(func() { _ = x.client.Delete(context.Background(), place) }) // it is this test's alone
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"the key %s is refused",
		"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, x.token)
	if err := x.client.Status().Patch(x.t.Context(), place, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		x.t.Fatal(err)
	}
	x.saysOf(early, "ClusterLocation vault-NS is not offered to namespace OWN")
}

// forges has TalosMachines in the tenant's namespace claim the other one's instance, as an administrator could who gave a tenant
// more than the role does, and then has them deleted.
func (x *tenancy) forges() {
	x.t.Helper()
	owned, shop := &api.TalosMachineList{}, &api.TalosCluster{}
	if err := x.client.List(x.t.Context(), owned, client.InNamespace(x.namespace)); err != nil || len(owned.Items) != 1 {
		x.t.Fatalf("the other one has %d machines, %v", len(owned.Items), err)
	}
	if err := x.client.Get(x.t.Context(), client.ObjectKey{Namespace: x.namespace, Name: "shop"}, shop); err != nil {
		x.t.Fatal(err)
	}
	instance := owned.Items[0].Annotations[machines.AnnotationInstance]
	words, err := json.Marshal(map[string]any{"cluster": shop.UID, "machine": map[string]any{"sim": map[string]any{}}})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, cluster := range []api.Name{"mine", "absent"} {
		forged := &api.TalosMachine{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: x.own, Name: "forged-" + string(cluster), Finalizers: []string{names.Finalizer}, Labels: names.Labels(string(cluster), "x"),
				Annotations: map[string]string{machines.AnnotationInstance: instance, machines.AnnotationWanted: string(words)},
			},
			Spec: api.TalosMachineSpec{
				ClusterName: cluster, PoolName: "x", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "cloud"}, Revision: "x",
			},
		}
		if err := x.as.Create(x.t.Context(), forged.DeepCopy()); !apierrors.IsForbidden(err) {
			x.t.Errorf("the tenant makes a TalosMachine: %v", err)
		}
		if err := x.client.Create(x.t.Context(), forged); err != nil {
			x.t.Fatal(err)
		}
		x.eventually(func(ctx context.Context) error { return client.IgnoreNotFound(x.as.Delete(ctx, forged)) })
		x.eventually(func(ctx context.Context) error { return x.gone(ctx, forged) })
	}
	found, err := x.centre.Cloud.Get(x.t.Context(), backend.Owner{Installation: "minos", Cluster: string(shop.UID)}, instance)
	if err != nil || found.State != backend.Running {
		x.t.Errorf("the instance of the other one is %s, %v", found.State, err)
	}
}

// treasure is what the other tenant has, without what changes by itself.
func (x *tenancy) treasure() map[string]string {
	x.t.Helper()
	found := map[string]string{}
	secrets := &corev1.SecretList{}
	if err := x.client.List(x.t.Context(), secrets, client.InNamespace(x.namespace)); err != nil {
		x.t.Fatal(err)
	}
	for _, secret := range secrets.Items {
		found["Secret "+secret.Name] = fmt.Sprintf("%s %x", secret.UID, sha256.Sum256(fmt.Append(nil, secret.Data)))
	}
	for _, kind := range []schema.GroupVersionKind{
		api.GroupVersion.WithKind("TalosCluster"), api.GroupVersion.WithKind("NodePool"), api.GroupVersion.WithKind("TalosMachine"), planeKind,
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := x.client.List(x.t.Context(), list, client.InNamespace(x.namespace)); err != nil {
			x.t.Fatal(err)
		}
		for _, one := range list.Items {
			found[kind.Kind+" "+one.GetName()] = fmt.Sprintf("%s %d", one.GetUID(), one.GetGeneration())
		}
	}
	return found
}

// isSilent wants nothing of any Secret, of either tenant or of the operator, to be in what the operator says: in its log, in objects
// and in events. What the tenant asked for in vain was not made either.
func (x *tenancy) isSilent() {
	x.t.Helper()
	said := map[string]string{"the log": x.stage.words.String()}
	for _, kind := range []schema.GroupVersionKind{
		api.GroupVersion.WithKind("TalosCluster"), api.GroupVersion.WithKind("NodePool"), {Group: "events.k8s.io", Version: "v1", Kind: "Event"}, planeKind,
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := x.client.List(x.t.Context(), list, client.InNamespace(x.own)); err != nil {
			x.t.Fatal(err)
		}
		for _, one := range list.Items {
			text, err := json.Marshal(one.Object["status"])
			if kind.Kind == "Event" {
				text, err = one.MarshalJSON()
			}
			if err != nil {
				x.t.Fatal(err)
			}
			said[kind.Kind+" "+one.GetName()] = string(text)
			if kind == planeKind && one.GetName() != "mine" {
				x.t.Errorf("control plane %s was made", one.GetName())
			}
		}
	}
	for where, text := range said {
		for secret, line := range x.treasures() {
			if strings.Contains(text, line) {
				x.t.Errorf("%s tells what is in %s", where, secret)
			}
		}
	}
}

// treasures are the lines of all Secrets that are long enough to be known again, by where they are.
func (x *tenancy) treasures() map[string]string {
	x.t.Helper()
	found := map[string]string{"the token": x.token}
	for _, namespace := range []string{x.own, x.namespace, operatorNamespace} {
		secrets := &corev1.SecretList{}
		if err := x.client.List(x.t.Context(), secrets, client.InNamespace(namespace)); err != nil {
			x.t.Fatal(err)
		}
		for _, secret := range secrets.Items {
			if _, planted := kubeconfigs[secret.Name]; planted {
				continue // it leads to servers whose addresses are told
			}
			for key, value := range secret.Data {
				for number, line := range strings.Split(string(value), "\n") {
					if line = strings.TrimSpace(line); len(line) >= 20 && !strings.HasPrefix(line, "server:") {
						found[fmt.Sprintf("Secret %s/%s, %s, line %d", namespace, secret.Name, key, number+1)] = line
					}
				}
			}
		}
	}
	return found
}

// String is all that was said.
func (w *words) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.String()
}
