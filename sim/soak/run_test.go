// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/estate/estatetest"
	"minos.dev/minos/sim/soak"
	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// seed is that of the story that every change of the code is held to. One that varies would fail for nobody's change.
const seed = 1

// TestBrief plays a short story, and wants nothing to be wrong.
func TestBrief(t *testing.T) {
	folder := t.TempDir()
	options := soak.Options{Folder: folder, Operator: estatetest.Operator(t), Seed: seed, Rounds: 3, Bounds: soak.Brief(), Tell: teller(t)}
	summary, err := soak.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", summary)
	if !summary.Passed() || summary.Rounds != options.Rounds {
		t.Errorf("seed %d: after %d rounds: %v\n%s", summary.Seed, summary.Rounds, summary.Violations, strings.Join(summary.Story, "\n"))
	}
	if summary.Machines == 0 || summary.Snapshots == 0 || len(summary.Faults) == 0 || summary.Longest == 0 {
		t.Error("hardly anything happened")
	}
	if left := estatetest.Processes(t, folder); len(left) > 0 {
		t.Errorf("there are processes left: %v", left)
	}
}

// teller writes what happens to the log of a test.
func teller(t *testing.T) func(soak.Line) {
	return func(line soak.Line) {
		if !line.Passing {
			t.Logf("%7.1fs %s", line.At.Seconds(), line.Text)
		}
	}
}

// A sabotage is something that must never be, and what is said then. It undoes what it did.
type sabotage struct {
	do   func(t *testing.T, s *soak.Stage, c client.Client) (undo func())
	want string
}

// sabotages are one for each invariant that can be violated from here.
var sabotages = map[string]sabotage{
	"an instance that nobody claims":  {orphan, invariant.Orphans},
	"a Node without an instance":      {homeless, invariant.Homeless},
	"a Secret that changes":           {changed, invariant.Unchanged},
	"a second gateway":                {second, invariant.Gateways},
	"too many machines":               {crowd, invariant.Budgets},
	"a token in a log":                {logged, invariant.Secrecy},
	"a private key in a condition":    {shown, invariant.Secrecy},
	"an instance in place of another": {twice, invariant.Once},
}

// TestSabotage brings a cluster with a gateway to rest, breaks one thing at a time, and wants the right violation each time. The
// operator is away, so that it does not mend it first.
func TestSabotage(t *testing.T) {
	s, err := soak.Open(t.Context(), soak.Options{Folder: t.TempDir(), Operator: estatetest.Operator(t), Seed: seed, Grace: 2 * time.Second, Patience: 20 * time.Second, Tell: teller(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	calm := story.Round{Deeds: []story.Deed{
		{Kind: story.MakeCluster, Cluster: "shop"},
		{Kind: story.MakePool, Cluster: "shop", Pool: "gate-east", Place: story.Cloud, What: story.Gateway, Number: 1},
		{Kind: story.MakePool, Cluster: "shop", Pool: "burst", Place: story.Cloud, What: story.Plain, Number: 1},
	}}
	for _, deed := range calm.Deeds {
		calm.After = calm.After.After(deed)
	}
	if found, err := s.Round(t.Context(), calm); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	c, err := s.Estate.Client()
	if err != nil {
		t.Fatal(err)
	}
	s.Estate.Kill(estate.Operator)
	for name, each := range sabotages {
		t.Run(name, func(t *testing.T) {
			undo := each.do(t, s, c)
			found, err := s.Judge(t.Context(), false)
			undo()
			if err != nil || len(found) == 0 {
				t.Fatalf("%v, %v, want that %s is violated", found, err, each.want)
			}
			if !slices.ContainsFunc(found, func(violation invariant.Violation) bool { return violation.Invariant == each.want }) {
				t.Errorf("%v, want that %s is violated", found, each.want)
			}
			s.Forget() // or what was seen would stay wrong
			if found, err := s.Judge(t.Context(), false); err != nil || len(found) > 0 {
				t.Fatalf("it is not undone: %v, %v", found, err)
			}
		})
	}
	found, err := s.Judge(t.Context(), true)
	if err != nil || len(found) != 1 || found[0].Invariant != invariant.Removed {
		t.Errorf("%v, %v, want that something is left", found, err)
	}
	must(t, c.Delete(t.Context(), &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant-shop", Name: "burst"}}))
	found, err = s.Round(t.Context(), story.Round{Number: 1, After: calm.After})
	if err != nil || len(found) != 1 || found[0].Invariant != invariant.Converges || !strings.Contains(found[0].Evidence, "pool shop/burst is not there") {
		t.Errorf("%v, %v, want that it does not come to be as declared", found, err)
	}
}

// machineOf is the machine of a pool.
func machineOf(t *testing.T, c client.Client, pool string) *api.TalosMachine {
	t.Helper()
	all := &api.TalosMachineList{}
	if err := c.List(t.Context(), all, client.InNamespace("tenant-shop")); err != nil {
		t.Fatal(err)
	}
	for at := range all.Items {
		if string(all.Items[at].Spec.PoolName) == pool {
			return &all.Items[at]
		}
	}
	t.Fatalf("pool %s has no machine", pool)
	return nil
}

// must fails the test with an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func orphan(t *testing.T, s *soak.Stage, _ client.Client) func() {
	return instance(t, s, "burst-stray")
}

// instance makes one in the cloud behind everybody's back.
func instance(t *testing.T, s *soak.Stage, name string) func() {
	t.Helper()
	cloud, owner := s.Estate.Centre().Cloud, backend.Owner{Installation: "minos", Cluster: "nobody"}
	made, err := cloud.Create(t.Context(), backend.Machine{Owner: owner, Name: name, Spec: api.Machine{Sim: &api.SimMachine{}}, Image: backend.Image{Version: "v1.13.9", Schematic: plain}, UserData: []byte("machine: {}\n")})
	must(t, err)
	return func() { must(t, cloud.Delete(context.WithoutCancel(t.Context()), owner, made.ID)) }
}

// plain is the schematic without extensions.
const plain = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

func homeless(t *testing.T, s *soak.Stage, _ client.Client) func() {
	tenant, err := s.Tenant(t.Context(), "shop")
	must(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stray"}, Spec: corev1.NodeSpec{ProviderID: "sim:///nowhere"}}
	must(t, tenant.Create(t.Context(), node))
	return func() { must(t, tenant.Delete(t.Context(), node)) }
}

func changed(t *testing.T, _ *soak.Stage, c client.Client) func() {
	before := &corev1.Secret{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "tenant-shop", Name: "shop-talos-ca"}, before))
	replace := func(data map[string][]byte) {
		made := before.DeepCopy()
		must(t, c.Delete(t.Context(), made))
		made.ResourceVersion, made.UID, made.Data = "", "", data
		must(t, c.Create(t.Context(), made))
	}
	other := maps.Clone(before.Data)
	other["ca.crt"] = []byte("another")
	replace(other)
	return func() { replace(before.Data) }
}

func second(t *testing.T, _ *soak.Stage, c client.Client) func() {
	return another(t, c, "gate-east", 1)
}

// crowd is two more than the one that is declared and the one that a roll-out may add.
func crowd(t *testing.T, _ *soak.Stage, c client.Client) func() { return another(t, c, "burst", 2) }

// another makes machines of a pool that has as many as it may.
func another(t *testing.T, c client.Client, pool string, count int) func() {
	t.Helper()
	var made []*api.TalosMachine
	for range count {
		one := machineOf(t, c, pool)
		more := &api.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, GenerateName: pool + "-", Labels: one.Labels}, Spec: one.Spec}
		must(t, c.Create(t.Context(), more))
		made = append(made, more)
	}
	return func() {
		for _, more := range made {
			must(t, c.Delete(t.Context(), more))
		}
	}
}

func logged(t *testing.T, s *soak.Stage, c client.Client) func() {
	secret := &corev1.Secret{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "tenant-shop", Name: "burst-join"}, secret))
	file := s.Estate.LogFile(estate.Operator) + ".old"
	must(t, os.WriteFile(file, append([]byte("the token is "), secret.Data["token"]...), 0o600))
	return func() { must(t, os.Remove(file)) }
}

func shown(t *testing.T, _ *soak.Stage, c client.Client) func() {
	machine := machineOf(t, c, "burst")
	say := func(text string) {
		patch := client.MergeFrom(machine.DeepCopy())
		machine.Status.Conditions[0].Message = text
		must(t, c.Status().Patch(t.Context(), machine, patch))
	}
	before := machine.Status.Conditions[0].Message
	say("it answers -----BEGIN EC PRIVATE " + "KEY-----")
	return func() { say(before) }
}

func twice(t *testing.T, _ *soak.Stage, c client.Client) func() {
	machine := machineOf(t, c, "burst")
	say := func(id string) {
		patch := client.MergeFrom(machine.DeepCopy())
		machine.Status.ProviderID = id
		must(t, c.Status().Patch(t.Context(), machine, patch))
	}
	before := machine.Status.ProviderID
	say("sim:///another")
	return func() { say(before) }
}
