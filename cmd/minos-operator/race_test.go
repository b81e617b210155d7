// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kubetest"
)

// gatewayPool is a pool that wants to be the gateway.
const gatewayPool = `
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: NAME}
spec:
  clusterName: shop
  role: ROLE
  locationRef: {kind: Location, name: cloud}
  replicas: COUNT
  machine: {sim: {}}
`

// TestRaceForTheGateway has two operators work at the same time, which nobody should, without the webhook, and two pools that want to
// be the one gateway of the cluster: one gets it, the other says who has it, and there are never two machines.
func TestRaceForTheGateway(t *testing.T) {
	s := emptyStage(t)
	for range 2 {
		s.alsoOperate("--webhook", "", "--elect=false")
	}
	s.apply(strings.Join(strings.Split(corner, "---\n")[1:3], "---\n"))
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "tailscale"}, StringData: map[string]string{"authkey": "tskey-auth-test"}}
	if err := s.client.Create(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.eventually(func(ctx context.Context) error { return s.clusterIs(ctx, "shop") })
	never, begin := s.watchGateways(), time.Now()

	for _, order := range [][]string{{"east", "west"}, {"west", "east"}} {
		s.atOnce(order, func(name string) error { return s.makePool(name, "gateway", 1) })
		winner, loser := s.oneGateway()
		t.Logf("of %v, %s has it after %s", order, winner, time.Since(begin))
		s.removePool(winner)
		s.eventually(func(ctx context.Context) error { return s.poolIs(ctx, loser, 1) })
		s.removePool(loser)
	}
	// Pools that have all that machines need, and change their role: the younger a moment before the elder.
	for _, name := range []string{"east", "west"} {
		if err := s.makePool(name, "plain", 0); err != nil {
			t.Fatal(err)
		}
		s.eventually(func(ctx context.Context) error { return s.poolIs(ctx, name, 0) })
	}
	for _, order := range [][]string{{"west", "east"}, {"east", "west"}} {
		s.atOnce(order, func(name string) error { return s.play(name, "gateway", 1) })
		winner, loser := s.oneGateway()
		t.Logf("of %v, %s has it after %s", order, winner, time.Since(begin))
		if err := s.play(winner, "plain", 0); err != nil {
			t.Fatal(err)
		}
		s.eventually(func(ctx context.Context) error { return errors.Join(s.poolIs(ctx, winner, 0), s.poolIs(ctx, loser, 1)) })
		if err := s.play(loser, "plain", 0); err != nil {
			t.Fatal(err)
		}
		s.eventually(func(ctx context.Context) error { return s.poolIs(ctx, loser, 0) })
	}
	never()
}

// alsoOperate runs an operator until the test ends.
func (s *stage) alsoOperate(more ...string) {
	s.t.Helper()
	said := &words{}
	g := newGate(s)
	g.limit = -1
	ctx, cancel := context.WithCancel(context.Background())
	g.begin(cancel)
	done := make(chan int, 1)
	go func() { done <- g.operate(ctx, said, more...) }()
	s.t.Cleanup(func() {
		cancel()
		if code := <-done; code != 0 {
			s.t.Errorf("an operator ended with %d", code)
		}
		if s.t.Failed() {
			s.t.Log(said.text.String())
		}
	})
}

// makePool makes a pool.
func (s *stage) makePool(name, role string, count int) error {
	text := strings.NewReplacer("NAME", name, "ROLE", role, "COUNT", fmt.Sprint(count)).Replace(gatewayPool)
	object, err := parsePool(text)
	if err != nil {
		return err
	}
	object.Namespace = s.namespace
	return s.client.Create(s.t.Context(), object)
}

// play gives a pool another role and another number of machines.
func (s *stage) play(name, role string, count int) error {
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	patch := fmt.Appendf(nil, `{"spec":{"role":%q,"replicas":%d}}`, role, count)
	return s.client.Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", patch))
}

// removePool deletes a pool and waits until it is gone.
func (s *stage) removePool(name string) {
	s.t.Helper()
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	if err := s.client.Delete(s.t.Context(), pool); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(func(ctx context.Context) error { return s.gone(ctx, pool) })
}

// atOnce does something with pools at the same time, the first of them a little earlier.
func (s *stage) atOnce(order []string, do func(name string) error) {
	s.t.Helper()
	failed := make([]error, len(order))
	var work sync.WaitGroup
	for at, name := range order {
		begun := make(chan struct{})
		work.Go(func() {
			close(begun)
			failed[at] = do(name)
		})
		<-begun
	}
	work.Wait()
	if err := errors.Join(failed...); err != nil {
		s.t.Fatal(err)
	}
}

// oneGateway waits until one of the two pools has its machine and the other says that it is this one which has the role.
func (s *stage) oneGateway() (winner, loser string) {
	s.t.Helper()
	s.eventually(func(ctx context.Context) error {
		var failed []error
		for _, pair := range [][]string{{"east", "west"}, {"west", "east"}} {
			err := errors.Join(s.poolIs(ctx, pair[0], 1), s.saysWhoHasIt(ctx, pair[1], pair[0]))
			if err == nil {
				winner, loser = pair[0], pair[1]
				return nil
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	})
	return winner, loser
}

// saysWhoHasIt wants a pool to have nothing, and to say who has the role.
func (s *stage) saysWhoHasIt(ctx context.Context, name, has string) error {
	found := &api.NodePool{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, found); err != nil {
		return err
	}
	for _, kind := range []string{api.ConditionRoleReady, api.ConditionReady} {
		said := meta.FindStatusCondition(found.Status.Conditions, kind)
		if said == nil || said.Status != metav1.ConditionFalse || said.Reason != api.ReasonDenied || !strings.Contains(said.Message, "NodePool "+has+" came first") {
			return fmt.Errorf("pool %s says of %s: %+v", name, kind, said)
		}
	}
	if count := found.Status.Replicas; count != nil && *count != 0 {
		return fmt.Errorf("pool %s has %d machines", name, *count)
	}
	return nil
}

// watchGateways wants never more than one machine of the two pools, by the word of the API server, which tells of every change, and of
// the place. What it returns ends it.
func (s *stage) watchGateways() func() {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: s.client.Scheme()})
	if err != nil {
		s.t.Fatal(err)
	}
	changes, err := c.Watch(s.t.Context(), &api.TalosMachineList{}, client.InNamespace(s.namespace))
	if err != nil {
		s.t.Fatal(err)
	}
	var made []string
	var asked atomic.Bool // to end
	done := make(chan struct{})
	go func() {
		defer close(done)
		there := map[string]bool{}
		for change := range changes.ResultChan() {
			machine, ok := change.Object.(*api.TalosMachine)
			if !ok {
				if !asked.Load() { // a watch that is stopped may say that its connection was closed
					s.t.Errorf("the watch ends: %v", change.Object)
				}
				return
			}
			if there[machine.Name] = true; change.Type == watch.Deleted {
				delete(there, machine.Name)
			} else if change.Type == watch.Added {
				made = append(made, machine.Name)
			}
			if instances := s.centre.Cloud.Instances(); len(there) > 1 || len(instances) > 1 {
				s.t.Errorf("there are the machines %v and the instances %v, and at most one may be of each", there, instances)
			}
		}
	}()
	return func() {
		asked.Store(true)
		changes.Stop()
		<-done
		if slices.Sort(made); len(slices.Compact(slices.Clone(made))) != len(made) || len(made) == 0 {
			s.t.Errorf("machines were made of the same name, or none: %v", made)
		}
	}
}

// parsePool reads a pool.
func parsePool(text string) (*api.NodePool, error) {
	pool := &api.NodePool{}
	return pool, yaml.UnmarshalStrict([]byte(text), pool)
}
