// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kubetest"
)

// alice is the tenant.
const alice = "alice"

// neighbours are two tenants: the other one has what the tenant is after, and the tenant has a cluster of its own.
const neighbours = `
{apiVersion: minos.dev/v1alpha1, kind: Location, metadata: {name: depot, namespace: NS}, spec: {sim: {}}}
---
{apiVersion: minos.dev/v1alpha1, kind: Location, metadata: {name: cloud, namespace: OWN}, spec: {sim: {}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: tailscale, namespace: NS}, stringData: {authkey: TOKEN}}
---
{apiVersion: v1, kind: Secret, metadata: {name: secret-OWN, namespace: minos-system}, stringData: {value: TOKEN}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: NS}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: mine, namespace: OWN}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: burst, namespace: NS}
spec: {clusterName: shop, role: plain, replicas: 1, locationRef: {kind: Location, name: depot}, machine: {sim: {}}}
`

// vault is a place of the platform's that is offered to somebody else, and says something that is not for everybody.
const vault = `
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: vault-NS}
spec: {sim: {namespaces: {matchLabels: {vault: NS}}}}
`

// A tenancy is a tenant beside another one, whose the stage is.
type tenancy struct {
	*stage
	own     string        // the tenant's namespace
	as      client.Client // the tenant
	fill    *strings.Replacer
	token   string       // what nobody may repeat
	visited atomic.Int32 // how often somebody came to a server that only the operator's machine reaches
}

// TestTenant has a tenant try, with the rights that are recommended and by every field that leads somewhere, to reach what is not its
// own. Nothing is reached, and nothing of it is told.
func TestTenant(t *testing.T) {
	x := newTenancy(t)
	defer x.leave()
	x.make(x.stage.client, neighbours)
	x.eventually(func(ctx context.Context) error { return x.poolIs(ctx, "burst", 1) })
	x.eventually(func(ctx context.Context) error {
		mine := &api.TalosCluster{}
		if err := x.client.Get(ctx, client.ObjectKey{Namespace: x.own, Name: "mine"}, mine); err != nil {
			return err
		}
		return ready("mine", mine.Generation, mine.Status.ObservedGeneration, mine.Status.Conditions)
	})
	before := x.treasure()

	x.hasNoRights()
	x.plants()
	x.burgles()
	for _, attempt := range attempts {
		x.tries(attempt)
	}
	x.forges()

	if diff := cmp.Diff(before, x.treasure()); diff != "" {
		t.Errorf("what the other tenant has was changed (-before +after):\n%s", diff)
	}
	if visits := x.visited.Load(); visits > 0 {
		t.Errorf("the operator was led to its own machine %d times", visits)
	}
	x.isSilent()
}

// newTenancy gives a tenant the rights that are recommended, in a namespace of its own.
func newTenancy(t *testing.T) *tenancy {
	t.Helper()
	x := &tenancy{stage: newStage(t), own: kubetest.Namespace(t), token: strings.ToLower(rand.Text())}
	inner := x.serve("127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) {
		x.visited.Add(1)
		http.Error(w, x.token, http.StatusInternalServerError)
	})
	gossip := x.serve("127.0.0.2:0", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, x.token, http.StatusInternalServerError) })
	elsewhere := x.serve("127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner, http.StatusFound) })
	x.fill = strings.NewReplacer("NS", x.namespace, "OWN", x.own, "TOKEN", x.token, "INNER", inner, "GOSSIP", gossip, "ELSEWHERE", elsewhere,
		"LOCAL", strings.Replace(inner, "127.0.0.1", "localhost", 1))
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Impersonate = -1, rest.ImpersonationConfig{UserName: alice}
	if x.as, err = client.New(config, client.Options{Scheme: x.client.Scheme()}); err != nil {
		t.Fatal(err)
	}
	user := []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: alice}}
	offers := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "offers-" + x.own}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "minos-offers"}, Subjects: user,
	}
	for _, binding := range []client.Object{offers, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: x.own, Name: "tenant"}, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "minos-tenant"}, Subjects: user,
	}} {
		if err := x.client.Create(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = x.client.Delete(context.Background(), offers) }) // it is this test's alone
	return x
}

// serve serves at an address of this machine.
func (x *tenancy) serve(at string, answer http.HandlerFunc) (url string) {
	x.t.Helper()
	listener, err := net.Listen("tcp", at)
	if err != nil {
		x.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	_ = server.Listener.Close() // which it has at another address
	server.Listener = listener
	server.Start()
	x.t.Cleanup(server.Close)
	return server.URL
}

// make makes objects as somebody.
func (x *tenancy) make(as client.Client, text string) {
	x.t.Helper()
	for part := range strings.SplitSeq(text, "---\n") {
		if err := x.create(as, part); err != nil {
			x.t.Fatal(err)
		}
	}
}

// create makes an object as somebody. Without a namespace it is in the tenant's.
func (x *tenancy) create(as client.Client, text string) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(x.fill.Replace(text)), object); err != nil {
		return err
	}
	if object.GetAPIVersion() == "" {
		object.SetAPIVersion("minos.dev/v1alpha1")
	}
	if object.GetNamespace() == "" && object.GetKind() != "ClusterLocation" {
		object.SetNamespace(x.own)
	}
	return as.Create(x.t.Context(), object)
}

// tries makes an attempt as the tenant.
func (x *tenancy) tries(one attempt) {
	x.t.Helper()
	err := x.create(x.as, one.object)
	if one.refused != "" {
		if err == nil || !strings.Contains(err.Error(), x.fill.Replace(one.refused)) {
			x.t.Errorf("%s: %s: %v", one.field, one.what, err)
		}
		return
	}
	if err != nil {
		x.t.Errorf("%s: %s: %v", one.field, one.what, err)
		return
	}
	x.saysOf(one.object, one.says)
}

// saysOf waits until an object says something in a condition that does not hold.
func (x *tenancy) saysOf(text, want string) {
	x.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(x.fill.Replace(text)), object); err != nil {
		x.t.Fatal(err)
	}
	object.SetAPIVersion("minos.dev/v1alpha1")
	x.eventually(func(ctx context.Context) error {
		if err := x.client.Get(ctx, client.ObjectKey{Namespace: x.own, Name: object.GetName()}, object); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, one := range conditions {
			condition, _ := one.(map[string]any)
			message, _ := condition["message"].(string)
			if condition["status"] != "True" && strings.Contains(message, x.fill.Replace(want)) {
				return nil
			}
		}
		return fmt.Errorf("%s %s does not say %q: %v", object.GetKind(), object.GetName(), x.fill.Replace(want), conditions)
	})
}

// leave removes what there is of both tenants: clusters that nobody reaches are not waited for.
func (x *tenancy) leave() {
	x.t.Helper()
	_ = x.client.DeleteAllOf(x.t.Context(), &api.NodePool{}, client.InNamespace(x.own))
	_ = x.client.DeleteAllOf(x.t.Context(), &api.NodePool{}, client.InNamespace(x.namespace))
	for _, namespace := range []string{x.own, x.namespace} {
		x.eventually(func(ctx context.Context) error {
			pools := &api.NodePoolList{}
			err := x.client.List(ctx, pools, client.InNamespace(namespace))
			if err == nil && len(pools.Items) > 0 {
				err = fmt.Errorf("there are %d pools", len(pools.Items))
			}
			return err
		})
		x.eventually(func(ctx context.Context) error { return x.endClusters(ctx, namespace) })
	}
}

// endClusters deletes the clusters of a namespace, and wants them gone.
func (x *tenancy) endClusters(ctx context.Context, namespace string) error {
	clusters := &api.TalosClusterList{}
	if err := x.client.List(ctx, clusters, client.InNamespace(namespace)); err != nil {
		return err
	}
	for at := range clusters.Items {
		cluster := &clusters.Items[at]
		if err := client.IgnoreNotFound(x.client.Delete(ctx, cluster)); err != nil {
			return err
		}
		if cluster.Spec.ControlPlane.External != nil && len(cluster.Finalizers) > 0 {
			cluster.Finalizers = nil
			if err := client.IgnoreNotFound(x.client.Update(ctx, cluster)); err != nil {
				return err
			}
		}
	}
	if len(clusters.Items) > 0 {
		return fmt.Errorf("there are %d clusters", len(clusters.Items))
	}
	return nil
}
