// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// rounds is how often floor and machines take turns: what else the processors do then falls on both.
const rounds = 2

// BenchmarkJoin measures machines that join at once, until all are ready, beside the floor: the same number of Nodes that are
// registered with the fewest calls. Both have the same API server, which is on the same processors.
func BenchmarkJoin(b *testing.B) {
	for _, count := range []int{200, 1000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s := newSite(b, "v1.14.1")
			f := newFloor(b.Context(), s)
			f.register(b.Context(), b, 20) // nobody pays for the first connections
			s.sweep()
			for b.Loop() {
				var bare, ours time.Duration
				for range rounds {
					bare += f.register(b.Context(), b, count)
					s.sweep()
					ours += s.joinAndMeasure(b, count)
					s.sweep()
				}
				total := float64(rounds * count)
				b.ReportMetric(total/bare.Seconds(), "floor/s")
				b.ReportMetric(total/ours.Seconds(), "machines/s")
				b.ReportMetric(bare.Seconds()/ours.Seconds(), "of-floor")
			}
		})
	}
}

// joinAndMeasure lets machines join, returns how long it took, and reports what one costs while it runs.
func (s *site) joinAndMeasure(b *testing.B, count int) time.Duration {
	text := s.configuration("plain", nil)
	before, goroutines := memory(), runtime.NumGoroutine()
	start := time.Now()
	rack := s.join(text, count)
	took := time.Since(start)
	b.ReportMetric(float64(memory()-before)/float64(count)/1024, "KiB/machine")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(count), "goroutines/machine")
	rack.Close()
	return took
}

// join lets machines join at the same time and returns when all are ready.
func (s *site) join(text []byte, count int) *machine.Rack {
	s.t.Helper()
	rack := s.newRack(machine.Durations{Deadline: 24 * 365 * time.Hour}) // a boot takes longer when there are many
	var all []*machine.Machine
	for range count {
		all = append(all, s.add(rack, machine.Options{UserData: text}))
	}
	for _, m := range all {
		s.reaches(m, machine.StepReady)
	}
	return rack
}

// sweep removes what machines left in the cluster, so that every turn begins with an empty one and pays for nothing that
// controllers still do about the one before.
func (s *site) sweep() {
	s.t.Helper()
	c := kubetest.Client(s.t)
	for kind, namespace := range map[client.Object]string{
		&coordinationv1.Lease{}: corev1.NamespaceNodeLease, &certificatesv1.CertificateSigningRequest{}: "", &corev1.Node{}: "",
	} {
		if err := c.DeleteAllOf(s.t.Context(), kind, client.InNamespace(namespace)); err != nil {
			s.t.Fatal(err)
		}
	}
	// The node controller looks every five seconds, and tells of each Node that it sees or misses.
	told, since := -1, time.Now()
	kubetest.Eventually(s.t, within, func(ctx context.Context) error {
		var events corev1.EventList
		if err := c.List(ctx, &events); err != nil {
			return err
		}
		if told != len(events.Items) {
			told, since = len(events.Items), time.Now()
		}
		if quiet := time.Since(since); quiet < 6*time.Second {
			return fmt.Errorf("controllers were at work %s ago", quiet)
		}
		return nil
	})
	if err := c.DeleteAllOf(s.t.Context(), &corev1.Event{}, client.InNamespace(corev1.NamespaceDefault)); err != nil {
		s.t.Fatal(err)
	}
}

// memory is what is in use.
func memory() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}
