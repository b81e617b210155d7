// SPDX-License-Identifier: Apache-2.0

// Package cloudtest gives tests a simulated cloud with its API, and the double that the conformance suite wants of it.
package cloudtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/backend/conformance"
	place "minos.dev/minos/backend/sim"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// Token is the credential of the API.
const Token = "token-of-the-simulated-cloud"

// Machine is one that the cloud can make. Its configuration is none: it hangs where it reads it, and needs no cluster.
func Machine(owner backend.Owner, name string) backend.Machine {
	return backend.Machine{
		Owner: owner, Name: name, Pool: "workers", Spec: api.Machine{Sim: &api.SimMachine{}}, UserData: []byte("secret"),
		Image: backend.Image{Version: "v1.13.9", Schematic: "0123"},
	}
}

// Rack returns a rack that is closed with the test.
func Rack(t testing.TB) *machine.Rack {
	t.Helper()
	rack, err := machine.NewRack(machine.Environment{Scale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rack.Close)
	return rack
}

// Serve serves the API of a cloud as long as the test, and returns its URL.
func Serve(t testing.TB, c *cloud.Cloud) string {
	t.Helper()
	server, err := c.Listen(t.Context(), "127.0.0.1:0", Token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

// Subject is the cloud as the conformance suite wants it, on top of a behaviour that it always has.
func Subject(always conduct.Behaviour) conformance.Subject {
	return conformance.Subject{New: func(t testing.TB) conformance.Double { return newDouble(t, always) }}
}

// newDouble opens a cloud on an empty folder.
func newDouble(t testing.TB, always conduct.Behaviour) conformance.Double {
	t.Helper()
	folder, rack, addresses := t.TempDir(), Rack(t), NewAddresses()
	keeper := conduct.NewKeeper(1, 1, always)
	opened, err := cloud.Open(cloud.Options{Folder: folder, Rack: rack, Keeper: keeper, Addresses: addresses})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	client, err := place.New(Serve(t, opened), Token)
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Double{
		Place: client, Machine: Machine(backend.Owner{}, ""), Absent: "i-0123456789abcdef", Secrets: []string{Token},
		Set:  func(wanted conformance.Behaviour) error { return set(keeper, always, wanted) },
		Kill: opened.Kill,
		Truth: func() conformance.Truth {
			truth := conformance.Truth{Others: Left(t, folder, rack, addresses)}
			for _, instance := range opened.Instances() {
				truth.Instances = append(truth.Instances, instance.ID)
			}
			return truth
		},
	}
}

// set turns what the suite wants into the words of the keeper.
func set(keeper *conduct.Keeper, always conduct.Behaviour, wanted conformance.Behaviour) error {
	b := always
	b.Faults = slices.Clone(always.Faults)
	for _, one := range []struct {
		to *metav1.Duration
		by time.Duration
	}{{&b.Latency, wanted.Latency}, {&b.Start, wanted.Start}, {&b.Stop, wanted.Stop}, {&b.Lag, wanted.Lag}} {
		one.to.Duration += one.by
	}
	if wanted.Quota > 0 {
		b.Quota = wanted.Quota
	}
	if wanted.Limited {
		b.Rate, b.Burst = 1, 1
	}
	for kind, is := range map[conduct.Kind]bool{
		conduct.Refuses: wanted.Refuses, conduct.Revokes: wanted.Revoked, conduct.FailsInstance: wanted.FailsInstances,
	} {
		if is {
			b.Faults = append(b.Faults, conduct.Fault{Kind: kind})
		}
	}
	if wanted.LosesAnswers {
		b.Faults = append(b.Faults, conduct.Fault{Kind: conduct.LosesAnswer, Times: 1})
	}
	if wanted.Omits != "" {
		b.Faults = append(b.Faults, conduct.Fault{Kind: conduct.Omits, Machines: wanted.Omits})
	}
	keeper.Set(b)
	return b.Check()
}

// Left is what there is beside the books: machines, disks and addresses.
func Left(t testing.TB, folder string, rack *machine.Rack, addresses *Addresses) []string {
	t.Helper()
	var left []string
	for _, m := range rack.Machines() {
		left = append(left, "machine "+m.Name())
	}
	disks, err := filepath.Glob(filepath.Join(folder, "disks", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, disk := range disks {
		left = append(left, "disk "+filepath.Base(disk))
	}
	for _, name := range addresses.Taken() {
		left = append(left, "address of "+name)
	}
	return left
}

// Addresses gives addresses of loopback that no other program of this kind gives at the same time.
type Addresses struct {
	mutex sync.Mutex
	taken map[string]netip.Addr
}

// NewAddresses returns a network without machines.
func NewAddresses() *Addresses { return &Addresses{taken: map[string]netip.Addr{}} }

// handed counts the addresses of this program.
var handed atomic.Uint32

// Take returns the address of a name.
func (a *Addresses) Take(name string) (netip.Addr, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if address, found := a.taken[name]; found {
		return address, nil
	}
	if name == "homeless" {
		return netip.Addr{}, errors.New("this name gets no address")
	}
	// The second and a part of the third byte are the program's, the rest counts.
	process, count := os.Getpid(), handed.Add(1)
	address := netip.AddrFrom4([4]byte{127, byte(64 + process%128), byte(process/128%64<<2 | int(count>>8&3)), byte(count)})
	a.taken[name] = address
	return address, nil
}

// Give takes an address back.
func (a *Addresses) Give(name string) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.taken, name)
	return nil
}

// Taken are the names that have an address.
func (a *Addresses) Taken() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var names []string
	for name := range a.taken {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String is what there is.
func (a *Addresses) String() string { return fmt.Sprint(a.Taken()) }
