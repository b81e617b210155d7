// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// corner is a small shop: a cluster with a pool in each of the two kinds of places.
const corner = `
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house-NS}
spec: {kubevirt: {namespaces: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: cloud}
spec: {sim: {zone: cloud-1}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  network: {podCIDRs: [10.60.0.0/16], serviceCIDRs: [10.61.0.0/16]}
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: general}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house-NS}
  replicas: 1
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: burst}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: cloud}
  replicas: 1
  machine: {sim: {}}
`

// most is how many machines a pool of the walk may have at any time: the two that are wanted at most, and one for a roll-out.
const most = 2 + 1

// killable are the writes that have to have been the one write of a life: the verb and the kind.
var killable = []string{
	"patch validatingwebhookconfigurations", "post secrets", "patch secrets", "delete secrets",
	"patch talosclusters", "patch talosclusters/status", "patch nodepools", "patch nodepools/status",
	"patch kamajicontrolplanes", "patch clusters", "delete clusters", "patch kubevirtclusters",
	"post kubevirtmachinetemplates", "delete kubevirtmachinetemplates",
	"patch machinedeployments", "delete machinedeployments", "patch machinehealthchecks", "delete machinehealthchecks",
	"post talosmachines", "patch talosmachines", "patch talosmachines/status", "delete talosmachines",
	"place post instances", "place delete instances",
	"tenant patch clusterrolebindings", "tenant patch secrets", "tenant delete secrets",
	"tenant patch clusterroles", "tenant patch nodes", "tenant delete nodes",
}

// TestKilledAtEveryStep takes a cluster through its life with operators of which each dies after one write, and wants the end to be
// that of an operator which was left alone, with nothing made twice and nothing lost.
func TestKilledAtEveryStep(t *testing.T) {
	var calm []string
	t.Run("left alone", func(t *testing.T) { calm = walk(newStage(t), nil) })
	t.Run("killed", func(t *testing.T) {
		s := emptyStage(t)
		l := s.die()
		walk(s, calm)
		l.stop()
		t.Logf("%d lives\n%s", l.gate.lives, strings.Join(l.gate.told, "\n"))
		for _, step := range killable {
			if l.gate.covered[step] == 0 {
				t.Errorf("no life ended with %q; there were %v", step, slices.Sorted(maps.Keys(l.gate.covered)))
			}
		}
	})
}

// walk makes, scales, rolls and deletes, and returns what there was before the end, which is as wanted if something is.
func walk(s *stage, wanted []string) []string {
	s.t.Helper()
	begin := time.Now()
	s.apply(corner)
	s.eventually(func(ctx context.Context) error { return s.clusterIs(ctx, "shop") })
	s.settled(map[string]int32{"general": 1, "burst": 1})
	s.t.Logf("made after %s", time.Since(begin))
	for _, count := range []int32{2, 1} {
		s.change("general", fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
		s.change("burst", fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
		s.settled(map[string]int32{"general": count, "burst": count})
		s.t.Logf("scaled to %d after %s", count, time.Since(begin))
	}
	before := s.names()
	s.change("general", `{"spec":{"machine":{"kubevirt":{"size":{"resources":{"cpu":4,"memory":"8Gi"}}}}}}`)
	s.change("burst", `{"spec":{"machine":{"sim":{"resources":{"cpu":8,"memory":"16Gi"}}}}}`)
	s.eventually(func(ctx context.Context) error { return s.rolled(ctx, before, "general", "burst") })
	s.settled(map[string]int32{"general": 1, "burst": 1})
	s.t.Logf("rolled after %s", time.Since(begin))
	found := s.portrait(wanted)
	s.deleteAll()
	s.t.Logf("gone after %s", time.Since(begin))
	return found
}

// deleteAll deletes all, and wants nothing to be left.
func (s *stage) deleteAll() {
	s.t.Helper()
	pools := []client.Object{}
	for _, name := range []string{"general", "burst"} {
		pools = append(pools, &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}})
	}
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "shop"}}
	s.deleteFirst(pools[1])
	for _, object := range append(pools, cluster) {
		// A webhook that is there refuses the cluster while there are pools; one that is away does not, and then the cluster waits.
		s.eventually(func(ctx context.Context) error { return client.IgnoreNotFound(s.client.Delete(ctx, object)) })
	}
	s.eventually(func(ctx context.Context) error {
		left := append([]error{s.gone(ctx, cluster)}, s.nothingLeft(ctx))
		for _, pool := range pools {
			left = append(left, s.gone(ctx, pool))
		}
		if machines := s.centre.Rack.Machines(); len(machines) > 0 {
			left = append(left, fmt.Errorf("there are machines left: %v", machines))
		}
		return errors.Join(left...)
	})
}

// deleteFirst deletes a pool of a cluster that stays, and wants its tokens to be taken back.
func (s *stage) deleteFirst(pool client.Object) {
	s.t.Helper()
	if err := s.client.Delete(s.t.Context(), pool); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(func(ctx context.Context) error {
		inside, err := s.portrayTenant(ctx)
		tokens := slices.DeleteFunc(inside, func(line string) bool { return !strings.HasPrefix(line, "token ") })
		if err == nil && len(tokens) != 1 {
			err = fmt.Errorf("the tenant has the tokens %v", tokens)
		}
		return errors.Join(err, s.gone(ctx, pool))
	})
}

// lives are operators that die one after the other.
type lives struct {
	*stage
	gate *gate
	stop func()

	born      map[string]string // what Secrets held that are written once, by name
	instances map[string]string // what instances were called by the place, by name
}

// die has operators live and die until it is stopped.
func (s *stage) die() *lives {
	s.t.Helper()
	l := &lives{stage: s, gate: newGate(s), born: map[string]string{}, instances: map[string]string{}}
	webhook := []string{"--webhook", freeAddress(s.t), "--webhook-service", "", "--elect=false"}
	s.forgetWebhook()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var last [2]*words
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			life, end := context.WithCancel(ctx)
			l.gate.begin(end)
			last[0], last[1] = last[1], &words{}
			l.gate.operate(life, last[1], webhook...) // which ends as a death does
			end()
			l.hold(ctx)
		}
	}()
	l.stop = func() { cancel(); <-done }
	s.t.Cleanup(func() {
		l.stop()
		if s.t.Failed() {
			for _, said := range last {
				if said != nil {
					s.t.Logf("one of the last lives:\n%s", said.text.String())
				}
			}
			s.t.Log(strings.Join(l.gate.told, "\n"))
		}
	})
	return l
}

// forgetWebhook removes what the operator keeps of its webhook, so that it is made again.
func (s *stage) forgetWebhook() {
	s.t.Helper()
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "minos-admission"}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "minos"}},
	} {
		if err := client.IgnoreNotFound(s.client.Delete(s.t.Context(), object)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// hold holds what there is after a life to what must never be otherwise.
func (l *lives) hold(ctx context.Context) {
	if err := errors.Join(l.holdSecrets(ctx), l.holdMachines(ctx)); err != nil && ctx.Err() == nil {
		l.t.Errorf("after life %d: %v", l.gate.lives, err)
	}
}

// holdSecrets wants what was born to stay as it is: identities and tokens.
func (l *lives) holdSecrets(ctx context.Context) error {
	secrets := &corev1.SecretList{}
	if err := l.client.List(ctx, secrets, client.InNamespace(l.namespace)); err != nil {
		return err
	}
	for _, secret := range secrets.Items {
		purpose := secret.Labels[names.LabelPurpose]
		if purpose != names.PurposeIdentity && purpose != names.PurposeJoin && purpose != names.PurposeConfiguration {
			continue
		}
		sum := sha256.New()
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			_, _ = fmt.Fprintf(sum, "%s=%x;", key, secret.Data[key]) // never fails
		}
		now := hex.EncodeToString(sum.Sum(nil))
		if before := l.born[secret.Name]; before != "" && before != now {
			return fmt.Errorf("Secret %s holds something else than before", secret.Name)
		}
		l.born[secret.Name] = now
	}
	return nil
}

// holdMachines wants never more machines than may be, and every instance to have a machine that claims it, and one instance only.
func (l *lives) holdMachines(ctx context.Context) error {
	instances := l.centre.Cloud.Instances() // before the machines, which are let go after them
	ours := &api.TalosMachineList{}
	theirs := &unstructured.UnstructuredList{}
	theirs.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	theirs.SetKind("Machine")
	if err := errors.Join(l.client.List(ctx, ours, client.InNamespace(l.namespace)), l.client.List(ctx, theirs, client.InNamespace(l.namespace))); err != nil {
		return err
	}
	if len(ours.Items) > most || len(theirs.Items) > most || len(instances) > most {
		return fmt.Errorf("there are %d TalosMachines, %d Machines and %d instances, and at most %d may be of each", len(ours.Items), len(theirs.Items), len(instances), most)
	}
	for _, instance := range instances {
		if !slices.ContainsFunc(ours.Items, func(machine api.TalosMachine) bool { return machine.Name == instance.Name }) {
			return fmt.Errorf("instance %s is nobody's", instance.Name)
		}
		if before := l.instances[instance.Name]; before != "" && before != instance.ID {
			return fmt.Errorf("machine %s had instance %s, and has %s", instance.Name, before, instance.ID)
		}
		l.instances[instance.Name] = instance.ID
	}
	return nil
}
