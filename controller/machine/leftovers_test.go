// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/sim/cloud/cloudtest"
)

// testOrphan removes an instance that no machine claims, after the grace period and not in a dry run.
func testOrphan(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1, grace: 2 * time.Second, reportOnly: true})
	w.run()
	w.eventually(w.ready(1))
	name := w.pool.Name + "-left"
	owner := backend.Owner{Installation: "test", Cluster: string(w.cluster.UID)}
	foreign := backend.Owner{Installation: "test", Cluster: "another"}
	for _, wanted := range []backend.Machine{cloudtest.Machine(owner, name), cloudtest.Machine(foreign, w.pool.Name+"-foreign")} {
		if _, err := w.place.Create(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually(func(ctx context.Context) error {
		var all eventsv1.EventList
		if err := w.client.List(ctx, &all, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		for _, event := range all.Items {
			if strings.Contains(event.Note, name+" in Location/here would be removed") {
				return nil
			}
		}
		return errors.New("nobody told of the orphan")
	})
	w.wantMeasured("minos_leftovers instance", 1)
	if found := len(w.cloud.Instances()); found != 3 {
		t.Fatalf("%d instances are there, want all 3", found)
	}
	w.kill()
	w.options.reportOnly = false
	w.run()
	w.eventually(func(context.Context) error {
		if found := len(w.cloud.Instances()); found != 2 {
			return errors.New("the orphan is there")
		}
		return nil
	})
	for _, instance := range w.cloud.Instances() {
		if instance.Name == name {
			t.Errorf("the wrong one was removed")
		}
	}
	w.wantMeasured("minos_leftovers instance", 0)
	w.wantMeasured("minos_leftovers_removed_total instance", 1)
}

// testVanished removes a Node whose instance is gone, and not one that nobody here made.
func testVanished(t *testing.T) {
	w := newWorld(t, options{replicas: 1, surge: 1})
	gone, other := w.pool.Name+"-gone", w.pool.Name+"-other"
	for name, annotations := range map[string]map[string]string{
		gone:  {machines.AnnotationInstance: "i-0123456789abcdef", machines.AnnotationLocation: "Location/here", machines.AnnotationCluster: string(w.cluster.UID)},
		other: nil,
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		if err := w.nodes.Create(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.nodes.Delete(context.Background(), node) })
	}
	w.run()
	w.eventually(func(ctx context.Context) error { return w.noNode(ctx, gone) })
	w.eventually(w.ready(1))
	w.wantMeasured("minos_leftovers_removed_total node", 1)
	if err := w.nodes.Get(t.Context(), client.ObjectKey{Name: other}, &corev1.Node{}); err != nil {
		t.Error(err)
	}
}
