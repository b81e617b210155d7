// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"minos.dev/minos/controller/cluster"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/names"
)

// writesNothing has another operator look at the cluster, with a client that counts.
func (s *story) writesNothing() {
	s.stop()
	before := s.versions()
	var writes []string
	note := func(verb string, object any) error {
		writes = append(writes, fmt.Sprintf("%s %T", verb, object))
		return errKilled // nothing of it is done
	}
	plain, err := client.NewWithWatch(management(s.t), client.Options{Scheme: scheme(s.t)})
	if err != nil {
		s.t.Fatal(err)
	}
	counted := interceptor.NewClient(plain, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return note("create", o)
		},
		Update: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return note("update", o)
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
			return note("delete", o)
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
			return note("patch", o)
		},
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return note("apply", o)
		},
		SubResourcePatch: func(_ context.Context, _ client.Client, which string, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			return note("patch "+which, o)
		},
	})
	r := &cluster.Reconciler{Client: counted, Live: counted, Tenants: tenant.New(counted), Settings: settings(s.clock)}
	for range 2 {
		if _, err := r.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: s.Key(shop)}); err != nil {
			s.t.Fatal(err)
		}
	}
	if len(writes) > 0 {
		s.t.Errorf("it wrote: %v", writes)
	}
	if diff := cmp.Diff(before, s.versions()); diff != "" {
		s.t.Errorf("the tenant changed (-before +after):\n%s", diff)
	}
}

// versions are those of what we have in the tenant.
func (s *story) versions() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}} {
		if err := s.inside().List(s.t.Context(), list, client.MatchingLabels{names.LabelManagedBy: names.Owner}); err != nil {
			s.t.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			found[fmt.Sprintf("%T %s", o, object.GetName())] = object.GetResourceVersion()
			return nil
		})
	}
	return found
}
