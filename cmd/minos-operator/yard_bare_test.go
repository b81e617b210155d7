// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// bareName begins the names of machines that nobody looks after: as those of the pool do whose token they have, or the signer would
// refuse them.
const bareName = "pool-3-bare-"

// bare has the place make machines of which nobody knows, from one number up to another, and waits until all are ready. They differ
// from those of the operator by their name alone: the place is asked for what the operator asked it for.
func (y *yard) bare(from, to int) {
	y.t.Helper()
	wanted := y.place.last().Machine()
	var work sync.WaitGroup
	turns := make(chan struct{}, 16) // as many as the operator makes at a time
	for at := from; at < to; at++ {
		turns <- struct{}{}
		work.Go(func() {
			defer func() { <-turns }()
			one := wanted
			one.Name = fmt.Sprint(bareName, at)
			if _, err := y.centre.Cloud.Create(y.t.Context(), one); err != nil {
				y.t.Errorf("%s: %v", one.Name, err)
			}
		})
	}
	work.Wait()
	if y.t.Failed() {
		y.t.FailNow()
	}
	ctx, cancel := context.WithTimeout(y.t.Context(), patience)
	defer cancel()
	for at := from; at < to; at++ {
		one := y.centre.Rack.Machine(fmt.Sprint(bareName, at))
		if one == nil {
			y.t.Fatalf("the place has not made %s%d", bareName, at)
		}
		if err := one.WaitFor(ctx, machine.StepReady); err != nil {
			y.t.Fatalf("%s: %v: %+v", one.Name(), err, one.Status())
		}
	}
}

// sweep removes the bare machines and what they left in the cluster, and waits until its controllers have seen that.
func (y *yard) sweep() {
	y.t.Helper()
	owner := backend.Owner(y.place.last().Owner)
	instances, err := y.centre.Cloud.List(y.t.Context(), owner)
	if err != nil {
		y.t.Fatal(err)
	}
	for _, instance := range instances {
		if strings.HasPrefix(instance.Name, bareName) {
			if err := y.centre.Cloud.Delete(y.t.Context(), owner, instance.ID); err != nil {
				y.t.Fatal(err)
			}
		}
	}
	inside := y.inTenant()
	if err := inside.DeleteAllOf(y.t.Context(), &certificatesv1.CertificateSigningRequest{}); err != nil {
		y.t.Fatal(err)
	}
	nodes := &corev1.NodeList{}
	if err := inside.List(y.t.Context(), nodes); err != nil {
		y.t.Fatal(err)
	}
	for at := range nodes.Items {
		if node := &nodes.Items[at]; strings.HasPrefix(node.Name, bareName) {
			if err := inside.Delete(y.t.Context(), node); err != nil {
				y.t.Fatal(err)
			}
		}
	}
	y.eventsEnd(inside)
}

// eventsEnd waits until the controllers of the cluster have told of all Nodes that came and went: they look every five seconds.
func (y *yard) eventsEnd(inside client.Client) {
	y.t.Helper()
	told, since := -1, time.Now()
	kubetest.Eventually(y.t, patience, func(ctx context.Context) error {
		var events corev1.EventList
		if err := inside.List(ctx, &events); err != nil {
			return err
		}
		now := 0
		for at := range events.Items {
			if strings.HasPrefix(events.Items[at].InvolvedObject.Name, bareName) {
				now++
			}
		}
		if told != now {
			told, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < 6*time.Second {
			return fmt.Errorf("controllers were at work %s ago, and told %d times", quiet, told)
		}
		return nil
	})
}
