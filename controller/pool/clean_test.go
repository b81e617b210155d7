// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/sim/kubetest"
)

// A place of our own.
const declaredCloud = `
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: cloud}
spec: {sim: {}}
`

// own is the pool in a place of our own.
func own(words ...string) string {
	return another(append(words, "kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}", "sim: {}", "name: here", "name: cloud")...)
}

// talosMachines are those of all pools, by name.
func (s *stage) talosMachines(ctx context.Context) ([]api.TalosMachine, error) {
	all := &api.TalosMachineList{}
	err := kubetest.Client(s.t).List(ctx, all, client.InNamespace(s.namespace))
	return all.Items, err
}

// revised wants so many revisions, of which the pool has the newest, and each machine one of them.
func (s *stage) revised(count, machines int) (newest string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		found, err := s.get(ctx, "workers")
		if err != nil {
			return err
		}
		revisions, err := s.revisions(ctx)
		if err != nil {
			return err
		}
		all, err := s.talosMachines(ctx)
		if err != nil {
			return err
		}
		newest = "workers-" + found.Status.Revision
		if found.Status.ObservedGeneration != found.Generation || len(revisions) != count || len(all) != machines || !slices.Contains(revisions, newest) {
			return fmt.Errorf("revisions are %v, of which %s is the newest, and there are %d machines; want %d and %d", revisions, newest, len(all), count, machines)
		}
		for _, one := range all {
			if !slices.Contains(revisions, string(one.Spec.Revision)) {
				return fmt.Errorf("machine %s refers to %s, which is gone", one.Name, one.Spec.Revision)
			}
		}
		return nil
	})
	return newest
}

// letGo lets machines go that are deleted, as who looks after them does.
func (s *stage) letGo(only func(api.TalosMachine) bool) {
	s.t.Helper()
	all, err := s.talosMachines(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for at := range all {
		if !only(all[at]) {
			continue
		}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := client.IgnoreNotFound(kubetest.Client(s.t).Patch(s.t.Context(), &all[at], patch)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestRevisionsOfOwnMachines wants a revision to go with the last machine that refers to it, and not before.
func TestRevisionsOfOwnMachines(t *testing.T) {
	s := newStage(t)
	s.openCluster()
	s.apply(declaredCloud)
	s.apply(own())
	s.activate("workers")
	first := s.revised(1, 2)

	// What Talos takes while it runs: both machines are to have the new one, and nobody has the old one yet.
	s.patch(`{"spec":{"config":{"labels":{"example.com/tier":"gold"}}}}`)
	second := s.revised(1, 2)
	if second == first {
		t.Fatal("no other revision was made")
	}

	// What replaces machines: the old ones end, and are not gone yet.
	s.patch(`{"spec":{"config":{"patches":[{"machine":{"kernel":{"modules":[{"name":"dm_thin_pool"}]}}}]}}}`)
	third := s.revised(2, 3)
	if wrote := s.again(); len(wrote) > 0 {
		t.Errorf("it wrote again: %v", wrote)
	}
	s.letGo(isEnding)
	s.revised(1, 2)
	if err := kubetest.Client(t).Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: third}, &corev1.Secret{}); err != nil {
		t.Error(err)
	}

	// A machine that has another than it should keeps both, and one that nobody has is removed whoever left it.
	all, err := s.talosMachines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.annotate(all[0], third)
	s.patch(`{"spec":{"config":{"labels":{"example.com/tier":"silver"}}}}`)
	s.revised(2, 2)
	s.annotate(all[0], "")
	s.revised(1, 2)
	s.staysAtItsVersions()
	s.ends("workers", "late")
}

// ends deletes pools, with whose machines nothing of them is left.
func (s *stage) ends(pools ...string) {
	s.t.Helper()
	for _, name := range pools {
		object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		if err := kubetest.Client(s.t).Delete(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		s.letGo(isEnding)
		revisions, err := s.revisions(ctx)
		if err != nil {
			return err
		}
		for _, name := range pools {
			if _, err := s.get(ctx, name); !apierrors.IsNotFound(err) || len(revisions) > 0 {
				return errors.Join(fmt.Errorf("pool %s or its revisions are there: %v", name, revisions), err)
			}
		}
		return nil
	})
}

// isEnding says whether a machine is being deleted.
func isEnding(one api.TalosMachine) bool { return !one.DeletionTimestamp.IsZero() }

// staysAtItsVersions declares versions that do not go together: machines stay at theirs, and the pool is looked after as before.
func (s *stage) staysAtItsVersions() {
	s.t.Helper()
	last := s.revised(1, 2)
	s.patchCluster(`{"spec":{"talosVersion":"v1.8.0"}}`)
	s.says("workers", api.ConditionClusterReady, api.ReasonInvalid, "Talos v1.8.0 does not run Kubernetes v1.35.2: it runs 1.26 to 1.31; machines stay at Talos v1.13.9 and Kubernetes v1.35.2")
	s.apply(own("workers", "late"))
	s.says("late", api.ConditionClusterReady, api.ReasonInvalid, "it runs 1.26 to 1.31; no machines are made")
	s.patch(`{"spec":{"replicas":3}}`)
	if now := s.revised(1, 3); now != last {
		s.t.Errorf("revision %s became %s", last, now)
	}
	s.patchCluster(`{"spec":{"talosVersion":"v1.13.9"}}`)
	s.says("workers", api.ConditionClusterReady, api.ReasonReady, "TalosCluster shop")
	if now := s.revised(1, 3); now != last {
		s.t.Errorf("revision %s became %s", last, now)
	}
	s.activate("late")
	s.says("late", api.ConditionConfigurationReady, api.ReasonReady, "Talos v1.13.9")
}

// patchCluster changes the cluster.
func (s *stage) patchCluster(text string) {
	s.t.Helper()
	object := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "shop"}}
	if err := kubetest.Client(s.t).Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		s.t.Fatal(err)
	}
}

// annotate says which revision a machine was given.
func (s *stage) annotate(one api.TalosMachine, revision string) {
	s.t.Helper()
	value := "null"
	if revision != "" {
		value = fmt.Sprintf("%q", revision)
	}
	patch := strings.NewReplacer("KEY", machines.AnnotationRevision, "VALUE", value).Replace(`{"metadata":{"annotations":{"KEY":VALUE}}}`)
	if err := kubetest.Client(s.t).Patch(s.t.Context(), &one, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}
