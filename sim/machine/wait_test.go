// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// image is a Talos of the site's release with extensions.
func (s *site) image(extensions ...string) machine.Image {
	return machine.Image{Version: string(s.version), Schematic: schematic, Extensions: extensions}
}

// schematic is an identity, too long for a label as all are.
const schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// counter makes names of Nodes that no other test has.
var counter struct {
	sync.Mutex
	n int
}

// unique is such a name.
func unique(prefix string) string {
	counter.Lock()
	defer counter.Unlock()
	counter.n++
	return prefix + "-" + strconv.Itoa(counter.n)
}

// add puts a machine into a rack. What its options do not say is that of a worker with an API.
func (s *site) add(rack *machine.Rack, options machine.Options) *machine.Machine {
	s.t.Helper()
	if options.Name == "" {
		options.Name = unique("worker")
	}
	if options.Disk == nil {
		options.Disk = machine.NewMemory(s.image())
	}
	if options.Hostname == "" {
		options.Hostname = options.Name
	}
	if options.Listen == "" {
		options.Listen = "127.0.0.1:0"
	}
	m, err := rack.Add(options)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// reaches waits for a step.
func (s *site) reaches(m *machine.Machine, step machine.Step) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	if err := m.WaitFor(ctx, step); err != nil {
		s.t.Fatal(err)
	}
}

// becomes waits until something holds of a machine.
func (s *site) becomes(m *machine.Machine, holds func(machine.Status) bool) machine.Status {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	status, err := m.Wait(ctx, holds)
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// stopsAt waits until a machine says why a step is not reached.
func (s *site) stopsAt(m *machine.Machine, step machine.Step, reason string) {
	s.t.Helper()
	s.becomes(m, func(status machine.Status) bool {
		stopped, is := status.Stopped()
		return is && stopped.Step == step && strings.Contains(stopped.Reason, reason)
	})
}

// node reads the Node of a machine.
func (s *site) node(m *machine.Machine) *corev1.Node {
	s.t.Helper()
	node := &corev1.Node{}
	kubetest.Eventually(s.t, within, func(ctx context.Context) error { // while it boots, a machine has no name
		return kubetest.Client(s.t).Get(ctx, client.ObjectKey{Name: m.Status().Node}, node)
	})
	return node
}

// eventually waits for something that no machine tells of.
func (s *site) eventually(holds func() bool, what string) {
	s.t.Helper()
	kubetest.Eventually(s.t, within, func(context.Context) error {
		if !holds() {
			return fmt.Errorf("there is not yet %s", what)
		}
		return nil
	})
}
