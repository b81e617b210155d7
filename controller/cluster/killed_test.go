// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/cluster"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

var errKilled = errors.New("killed")

// mortal is a client that does a number of writes, and then nothing any more: neither reads nor writes.
func mortal(t *testing.T, writes int) client.WithWatch {
	t.Helper()
	plain, err := client.NewWithWatch(management(t), client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	dead := false
	spend := func(do func() error) error {
		if writes == 0 || dead {
			dead = true
			return errKilled
		}
		writes--
		return do()
	}
	return interceptor.NewClient(plain, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if dead {
				return errKilled
			}
			return c.Get(ctx, key, o, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return spend(func() error { return c.Create(ctx, o, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return spend(func() error { return c.Patch(ctx, o, p, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return spend(func() error { return c.Delete(ctx, o, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return spend(func() error { return c.Apply(ctx, o, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, which string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			return spend(func() error { return c.SubResource(which).Patch(ctx, o, p, options...) })
		},
	})
}

// look has a new operator look at a cluster once.
func look(t *testing.T, c client.Client, key types.NamespacedName, with cluster.Settings) error {
	t.Helper()
	_, err := (&cluster.Reconciler{Client: c, Live: c, Tenants: tenant.New(c), Settings: with}).Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	return err
}

// hostedBy is a cluster that Kamaji hosts.
func hostedBy(key types.NamespacedName) *api.TalosCluster {
	return &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.35.2", TalosVersion: kamajitest.TalosVersion, ControlPlane: api.ControlPlane{Kamaji: &api.KamajiControlPlane{}},
		},
	}
}

// identityOf is what a cluster was born with, or nothing.
func identityOf(t *testing.T, key types.NamespacedName) string {
	t.Helper()
	secret, err := secretOf(t.Context(), kubetest.Client(t), key.Namespace, key.Name+"-talos-secrets")
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return string(secret.Data[names.IdentityKey])
}

// installed has all kinds served. Nobody tends to objects of them here.
func installed(t *testing.T) {
	t.Helper()
	kubetest.InstallModule(t, crds.KubeVirt, "")
	kubetest.InstallModule(t, crds.Kamaji, "")
}

// TestKilled kills the operator after each of its writes, while a cluster is made and while it goes, and has another go on: what
// was born stays, and in the end there is all or nothing.
func TestKilled(t *testing.T) {
	installed(t)
	namespace, with, whole := kubetest.Namespace(t), settings(&clock{}), mortal(t, -1)
	keyOf := func(writes int) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: fmt.Sprint("shop-", writes)}
	}
	const most = 9 // as many as there are, the status included
	for writes := range most {
		key := keyOf(writes)
		create(t, hostedBy(key))
		_ = look(t, mortal(t, writes), key, with) // it may or may not have noticed
		born := identityOf(t, key)
		for range 2 {
			if err := look(t, whole, key, with); err != nil {
				t.Fatal(err)
			}
		}
		if after := identityOf(t, key); after == "" || born != "" && born != after {
			t.Errorf("killed after %d writes, the identity is another one", writes)
		}
		condition(t, key, api.ConditionSecretsReady, "True Ready")
		condition(t, key, api.ConditionControlPlaneReady, "False Progressing")
		if err := look(t, mortal(t, 0), key, with); err != nil {
			t.Errorf("killed after %d writes, it has still something to write when all is done: %v", writes, err)
		}
		remove(t, hostedBy(key))
	}
	for writes := range most {
		_ = look(t, mortal(t, writes), keyOf(writes), with)
	}
	for writes := range most {
		ends(t, whole, keyOf(writes), with)
	}
	hasOnly(t, namespace)
}

// ends has an operator look at a cluster that is being deleted until it is gone.
func ends(t *testing.T, c client.Client, key types.NamespacedName, with cluster.Settings) {
	t.Helper()
	kubetest.Eventually(t, kamajitest.Within, func(ctx context.Context) error {
		if err := look(t, c, key, with); err != nil {
			return err
		}
		if err := kubetest.Client(t).Get(ctx, key, &api.TalosCluster{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there, %w", err)
		}
		return nil
	})
}

// TestRefused has clusters that cannot be made: nothing of a control plane is asked for.
func TestRefused(t *testing.T) {
	installed(t)
	namespace := kubetest.Namespace(t)
	plain := settings(&clock{})
	overlapping, imageless := plain, plain
	overlapping.Management, imageless.SignerImage = []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}, ""
	for name, test := range map[string]struct {
		with cluster.Settings
		want string
	}{
		"overlap": {overlapping, "spec.network.serviceCIDRs: 10.96.0.0/16 shares addresses with 10.96.0.0/12"},
		"image":   {imageless, "set spec.images.signer"},
	} {
		key := types.NamespacedName{Namespace: namespace, Name: name}
		create(t, hostedBy(key))
		if err := look(t, mortal(t, -1), key, test.with); err != nil {
			t.Fatal(err)
		}
		if seen := condition(t, key, api.ConditionControlPlaneReady, "False Invalid"); !strings.Contains(seen.Message, test.want) {
			t.Errorf("%s: it says %q", name, seen.Message)
		}
		if _, err := part(t, key); !apierrors.IsNotFound(err) {
			t.Errorf("%s: a Cluster was made: %v", name, err)
		}
	}
}

// part reads Cluster API's Cluster.
func part(t *testing.T, key types.NamespacedName) (*unstructured.Unstructured, error) {
	t.Helper()
	found := &unstructured.Unstructured{}
	found.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	found.SetKind("Cluster")
	return found, kubetest.Client(t).Get(t.Context(), key, found)
}

// TestSomebodyElses has a Cluster of the same name that others made: it is neither changed nor deleted.
func TestSomebodyElses(t *testing.T) {
	installed(t)
	key := types.NamespacedName{Namespace: kubetest.Namespace(t), Name: "bank"}
	theirs := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"clusterNetwork":    map[string]any{"serviceDomain": "theirs.local", "pods": map[string]any{"cidrBlocks": []any{"10.9.0.0/16"}}},
		"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtCluster", "name": "theirs"},
	}}}
	theirs.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	theirs.SetKind("Cluster")
	theirs.SetNamespace(key.Namespace)
	theirs.SetName(key.Name)
	create(t, theirs, hostedBy(key))
	with := settings(&clock{})
	if err := look(t, mortal(t, -1), key, with); err != nil {
		t.Fatal(err)
	}
	if seen := condition(t, key, api.ConditionControlPlaneReady, "False Failed"); !strings.Contains(seen.Message, "conflict") {
		t.Errorf("it says %q", seen.Message)
	}
	remove(t, hostedBy(key))
	ends(t, mortal(t, -1), key, with)
	found, err := part(t, key)
	if err != nil || found.GetDeletionTimestamp() != nil {
		t.Fatalf("somebody else's Cluster is being deleted: %v", err)
	}
	if diff := cmp.Diff("theirs.local", found.Object["spec"].(map[string]any)["clusterNetwork"].(map[string]any)["serviceDomain"]); diff != "" {
		t.Error(diff)
	}
}
