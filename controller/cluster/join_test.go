// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/fleet"
)

// The tokens of a pool.
const token, bootstrap = "0123456789abcdef0123456789abcdef", "abcdef.0123456789abcdef"

// poolOf is a pool of a cluster.
func poolOf(cluster types.NamespacedName, name string) *api.NodePool {
	one := int32(1)
	return &api.NodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name},
		Spec: api.NodePoolSpec{
			ClusterName: api.Name(cluster.Name), Role: "plain", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "here"},
			Replicas: &one, Machine: api.Machine{Sim: &api.SimMachine{}},
		},
	}
}

// joinOf is a pool's join Secret, as the pool's controller makes it.
func joinOf(cluster types.NamespacedName, pool, token, bootstrap string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: pool + "-join", Labels: names.Purpose(cluster.Name, pool, names.PurposeJoin)},
		StringData: map[string]string{names.JoinToken: token, names.JoinBootstrap: bootstrap},
	}
}

// active waits until the tokens of a pool are known everywhere.
func active(t *testing.T, cluster types.NamespacedName, pool string) {
	t.Helper()
	kubetest.Eventually(t, kamajitest.Within, func(ctx context.Context) error {
		found, err := secretOf(ctx, kubetest.Client(t), cluster.Namespace, pool+"-join")
		if err == nil && found.Annotations[names.AnnotationActiveUntil] == "" {
			err = errors.New("it is not active")
		}
		return err
	})
}

// join has a simulated machine of a pool join a cluster with what the pool's controller would render for it.
func join(t *testing.T, cluster *api.TalosCluster, pool *api.NodePool) {
	t.Helper()
	bundle, err := material.Bundle(t.Context(), kubetest.Client(t), cluster, pool)
	if err != nil {
		t.Fatal(err)
	}
	here := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "here"}, Spec: api.LocationSpec{Sim: &api.SimLocation{}}}
	pool.Spec.Architecture = api.AMD64
	whole, err := fleet.New([]load.Object{cluster, pool, here})
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := whole.Render(pool, fleet.Secrets{Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	rack, err := machine.NewRack(machine.Environment{Scale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rack.Close)
	image := machine.Image{Version: string(kamajitest.TalosVersion), Schematic: strings.Repeat("0123", 16)}
	name := pool.Name + "-1"
	m, err := rack.Add(machine.Options{Name: name, Hostname: name, Disk: machine.NewMemory(image), UserData: rendered[0].Config})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kamajitest.Within)
	defer cancel()
	if err := m.WaitFor(ctx, machine.StepReady); err != nil {
		t.Fatalf("the machine did not join: %v; it stands at %v", err, m.Status())
	}
}
