// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLeaderIsFollowed has two operators of which one leads and dies in the middle of making a cluster, without a word: until then
// the other writes nothing, and then it goes on where the first was.
func TestLeaderIsFollowed(t *testing.T) {
	s := emptyStage(t)
	const writes = 8 // by which a cluster is born and far from ready
	two := []*gate{newGate(s), newGate(s)}
	died := make(chan int, len(two))
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	for at, g := range two {
		g.limit = writes
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		g.begin(func() {
			died <- two[1-at].becomeLast()
			cancel()
		})
		work.Go(func() { g.operate(ctx, s.words, "--webhook", "") })
	}
	s.apply(strings.Join(strings.Split(corner, "---\n")[1:3], "---\n") + "---\n" + strings.Split(corner, "---\n")[4])
	select {
	case written := <-died:
		if written != 0 {
			t.Errorf("the one that does not lead wrote %d times", written)
		}
	case <-time.After(within):
		t.Fatal("the leader did not get far enough to die")
	}
	born := &corev1.Secret{}
	identity := client.ObjectKey{Namespace: s.namespace, Name: "shop-talos-secrets"}
	if err := s.client.Get(t.Context(), identity, born); err != nil {
		t.Fatalf("the first operator died too early: %v", err)
	}
	if err := s.clusterIs(t.Context(), "shop"); err == nil {
		t.Error("the cluster was made before the first operator died")
	}
	s.eventually(func(ctx context.Context) error {
		return errors.Join(s.clusterIs(ctx, "shop"), s.poolIs(ctx, "burst", 1))
	})
	after := &corev1.Secret{}
	if err := s.client.Get(t.Context(), identity, after); err != nil || after.UID != born.UID || after.ResourceVersion != born.ResourceVersion {
		t.Errorf("what the cluster was born with is no longer what it was: %v", err)
	}
	// Whoever leads says so, which takes a right of its own.
	s.eventually(func(ctx context.Context) error {
		said := &corev1.EventList{}
		if err := s.client.List(ctx, said, client.InNamespace(operatorNamespace)); err != nil {
			return err
		}
		for _, event := range said.Items {
			if event.Reason == "LeaderElection" && strings.Contains(event.Message, "became leader") {
				return nil
			}
		}
		return errors.New("nobody says who leads")
	})
}

// becomeLast lets a life go on for ever, and says how much was written in it.
func (g *gate) becomeLast() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.limit = -1
	return g.written
}
