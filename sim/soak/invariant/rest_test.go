// SPDX-License-Identifier: Apache-2.0

package invariant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sim/soak/invariant"
)

// calm is a cluster in which all is as declared: a pool of one machine, and two that want to be the gateway.
func calm() snapshot {
	gate := func(name string) pool { return pool{Cluster: "shop", Name: name, Exclusive: true, Desired: 1} }
	east, west := gate("east"), gate("west")
	east.Ready, west.Denied, west.Says = true, true, "Denied: NodePool east came first"
	ready := burst(1)
	ready.Ready = true
	return snapshot{
		Clusters: []invariant.Cluster{{Name: "shop", Ready: true}},
		Pools:    []pool{ready, east, west},
		Machines: []machine{
			{Cluster: "shop", Pool: "burst", Name: "b-1", Instance: "sim:///1", Available: true}, {Cluster: "shop", Pool: "east", Name: "e-1", Instance: "sim:///2", Available: true},
		},
		Instances: []instance{{Place: "cloud", Name: "b-1", ID: "sim:///1"}, {Place: "cloud", Name: "e-1", ID: "sim:///2"}},
		Nodes:     []node{{Cluster: "shop", Name: "b-1", Instance: "sim:///1", Ready: true}, {Cluster: "shop", Name: "e-1", Instance: "sim:///2", Ready: true}},
	}
}

// declared is what calm is.
var declared = invariant.Declared{"shop": {"burst": 1, "east": 1, "west": 1}}

// TestUnsettled changes one thing at a time of what is as declared.
func TestUnsettled(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*snapshot)
		declared invariant.Declared
		want     []string
	}{
		"all is well":           {},
		"the cluster waits":     {change: func(s *snapshot) { s.Clusters[0] = invariant.Cluster{Name: "shop", Says: "Waiting: for Kamaji"} }, want: []string{"cluster shop is not ready: Waiting: for Kamaji"}},
		"no cluster":            {change: func(s *snapshot) { s.Clusters = nil }, want: []string{"cluster shop is not there"}},
		"no answer":             {change: func(s *snapshot) { s.Unseen = []string{"shop"} }, want: []string{"cluster shop does not answer"}},
		"a pool waits":          {change: func(s *snapshot) { s.Pools[0].Ready, s.Pools[0].Says = false, "Waiting: for room" }, want: []string{"pool shop/burst is not ready: Waiting: for room"}},
		"an old number":         {change: func(s *snapshot) { s.Pools[0].Desired = 3 }, want: []string{"pool shop/burst declares 3 machines and should 1"}},
		"no pool":               {change: func(s *snapshot) { s.Pools = s.Pools[1:] }, want: []string{"pool shop/burst is not there"}},
		"a pool that should go": {declared: invariant.Declared{"shop": {"burst": 1, "east": 1}}, want: []string{"pool shop/west is still there: Denied: NodePool east came first"}},
		"denied for no reason": {
			change: func(s *snapshot) { s.Pools[1].Ready, s.Pools[1].Denied, s.Pools[1].Says = false, true, "Denied" },
			want:   []string{"pool shop/east is not ready: Denied", "pool shop/west is not ready: Denied: NodePool east came first"},
		},
		"machines will go":       {change: func(s *snapshot) { s.Going = []string{"shop/burst"} }, want: []string{"MachineDeployment shop/burst is being deleted"}},
		"a Node is not ready":    {change: func(s *snapshot) { s.Nodes[0].Ready = false }, want: []string{"Node shop/b-1 is not ready"}},
		"a Node of an old label": {change: func(s *snapshot) { s.Pools[0].Label = "2" }, want: []string{`Node shop/b-1 is labelled "" and should be "2"`}},
		"a Node of no machine":   {change: func(s *snapshot) { s.Nodes = append(s.Nodes, node{Cluster: "shop", Name: "b-0", Ready: true}) }, want: []string{"Node shop/b-0 is of no machine"}},
		"a machine is no Node":   {change: func(s *snapshot) { s.Nodes = s.Nodes[1:] }, want: []string{"machine shop/b-1 is no Node"}},
		"all should be gone": {declared: invariant.Declared{}, want: []string{
			"cluster shop is still there: ", "pool shop/burst is still there: ", "pool shop/east is still there: ", "pool shop/west is still there: Denied: NodePool east came first",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			now, wanted := calm(), declared
			if test.change != nil {
				test.change(&now)
			}
			if test.declared != nil {
				wanted = test.declared
			}
			if diff := cmp.Diff(test.want, invariant.Unsettled(now, wanted)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAtRest plants what nobody claims.
func TestAtRest(t *testing.T) {
	expect(t, invariant.AtRest(calm()), "", "")

	orphan := calm()
	orphan.Instances = append(orphan.Instances, instance{Place: "cloud", Name: "b-0", ID: "sim:///9"})
	expect(t, invariant.AtRest(orphan), invariant.Orphans, "the cloud has instance sim:///9, which is called b-0, and no machine claims it")

	homeless := calm()
	homeless.Instances = homeless.Instances[1:]
	expect(t, invariant.AtRest(homeless), invariant.Homeless, `Node b-1 of cluster shop says that its instance is "sim:///1", and no place has that`)
}

// TestLeft wants nothing to be left.
func TestLeft(t *testing.T) {
	expect(t, invariant.Left(snapshot{}, nil), "", "")
	expect(t, invariant.Left(snapshot{}, []string{"Secret shop-talos-secrets"}), invariant.Removed, "there is Secret shop-talos-secrets")
	expect(t, invariant.Left(calm(), nil), invariant.Removed, "there is NodePool shop/burst (), NodePool shop/east (), NodePool shop/west (Denied: NodePool east came first), TalosCluster shop (), instance b-1 in the cloud, instance e-1 in the cloud, machine shop/b-1, machine shop/e-1")
}

// TestLeaks looks for values in texts.
func TestLeaks(t *testing.T) {
	known := invariant.Known{"the token of pool burst": "abcdef.0123456789abcdef", "short": "abc"}
	expect(t, invariant.Leaks("operator.log", "nothing here of abc\n", known), "", "")
	found := invariant.Leaks("operator.log", "before\n{\"token\":\"abcdef.0123456789abcdef\",\"again\":\"abcdef.0123456789abcdef\"}\nafter\n", known)
	expect(t, found, invariant.Secrecy, `the token of pool burst is in operator.log: {"token":"(the value)","again":"(the value)"}`)
	for _, one := range found {
		if strings.Contains(one.String(), known["the token of pool burst"]) {
			t.Errorf("the evidence tells the secret: %s", one)
		}
	}
	expect(t, invariant.Leaks("an event", "-----BEGIN EC PRIVATE KEY-----\nxyz\n", nil), invariant.Secrecy, "a private key is in an event, at byte 14")
}

// TestFingerprint changes with what goes on, and only with it.
func TestFingerprint(t *testing.T) {
	one, same, other := calm(), calm(), calm()
	same.At = 5
	other.Nodes[0].Ready = false
	if invariant.Fingerprint(one, nil) != invariant.Fingerprint(same, nil) {
		t.Error("time alone is progress")
	}
	if invariant.Fingerprint(one, nil) == invariant.Fingerprint(other, nil) || invariant.Fingerprint(one, nil) == invariant.Fingerprint(one, []string{"it waits"}) {
		t.Error("a change is no progress")
	}
}
