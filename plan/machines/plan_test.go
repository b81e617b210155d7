// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
)

// now is when the tests are.
var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// policy is three machines with the defaults.
func policy(change func(*Policy)) Policy {
	p := Policy{
		Pool: "workers", Desired: 3, Revision: "new", Surge: 1, Startup: 20 * time.Minute, NotReady: 10 * time.Minute, Silent: 5 * time.Minute, Unhealthy: 1,
	}
	if change != nil {
		change(&p)
	}
	return p
}

// works is a machine that does, of so many minutes.
func works(name, revision string, minutes int) Machine {
	at := now.Add(-time.Duration(minutes) * time.Minute)
	return Machine{Name: name, Revision: revision, Created: at, Made: at, Joined: true, Available: true, Node: NodeReady, Since: at}
}

// with is a machine that differs.
func with(m Machine, change func(*Machine)) Machine {
	change(&m)
	return m
}

// joins is a machine on its way.
func joins(name, revision string, minutes int) Machine {
	return with(works(name, revision, minutes), func(m *Machine) {
		m.Joined, m.Available, m.Node, m.Since, m.Step = false, false, NodeUnseen, time.Time{}, "CertificateIssued: nobody answers"
	})
}

// silent is one whose Node says nothing.
func silent(name, revision string, minutes int) Machine {
	return with(works(name, revision, 60), func(m *Machine) {
		m.Available, m.Node, m.Since = false, NodeSilent, now.Add(-time.Duration(minutes)*time.Minute)
	})
}

// said is a plan in words.
func said(plan Plan) string {
	var lines []string
	for _, one := range plan.Keep {
		lines = append(lines, "keep "+one.Name+": "+one.Reason)
	}
	for _, one := range plan.Delete {
		lines = append(lines, "delete "+one.Name+": "+one.Reason)
	}
	if len(plan.Create) > 0 {
		lines = append(lines, fmt.Sprintf("create %d: %s", len(plan.Create), plan.Why))
	}
	if plan.Held != "" {
		lines = append(lines, "held: "+plan.Held)
	}
	if plan.Next > 0 {
		lines = append(lines, "next: "+plan.Next.String())
	}
	return strings.Join(lines, "\n")
}

func TestFor(t *testing.T) {
	tests := map[string]struct {
		policy      Policy
		machines    []Machine
		unreachable string
		want        string
	}{
		"an empty pool":     {policy: policy(nil), want: "create 3: 3 machines of revision new are wanted and there are 0"},
		"all is well":       {policy: policy(nil), machines: []Machine{works("a", "new", 9), works("b", "new", 8), works("c", "new", 7)}},
		"one is on its way": {policy: policy(nil), machines: []Machine{works("a", "new", 9), works("b", "new", 8), joins("c", "new", 7)}, want: "next: 13m0s"},
		"too many: what does not work goes first": {
			policy: policy(func(p *Policy) { p.Desired = 2 }), machines: []Machine{works("a", "new", 9), works("b", "new", 3), joins("c", "new", 7)},
			want: "delete c: 2 machines are wanted and there are 3\nnext: 13m0s",
		},
		"too many: the youngest goes": {
			policy: policy(func(p *Policy) { p.Desired = 2 }), machines: []Machine{works("a", "new", 9), works("b", "new", 3), works("c", "new", 7)},
			want: "delete b: 2 machines are wanted and there are 3",
		},
		"too many: the one that somebody asked for goes": {
			policy:   policy(func(p *Policy) { p.Desired = 2 }),
			machines: []Machine{with(works("a", "new", 9), func(m *Machine) { m.First = true }), works("b", "new", 3), works("c", "new", 7)},
			want:     "delete a: 2 machines are wanted and there are 3",
		},
		"the one that somebody asked for waits until it can be spared": {
			policy:   policy(func(p *Policy) { p.Desired = 2 }),
			machines: []Machine{with(works("a", "new", 9), func(m *Machine) { m.First = true }), works("b", "new", 3), joins("c", "new", 7)},
			want:     "next: 13m0s",
		},
		"a new revision begins with one more": {
			policy: policy(nil), machines: []Machine{works("a", "old", 9), works("b", "old", 8), works("c", "old", 7)},
			want: "create 1: 3 machines of revision new are wanted and there are 0",
		},
		"the one more is not too many": {
			policy: policy(nil), machines: []Machine{works("a", "old", 9), works("b", "old", 8), works("c", "old", 7), joins("d", "new", 1)},
			want: "next: 19m0s",
		},
		"when it works an old one goes": {
			policy: policy(nil), machines: []Machine{works("a", "old", 9), works("b", "old", 8), works("c", "old", 7), works("d", "new", 1)},
			want: "delete c: it is of revision old and the newest is new",
		},
		"one that leaves still exists": {
			policy:   policy(nil),
			machines: []Machine{works("a", "old", 9), works("b", "old", 8), with(works("c", "old", 7), func(m *Machine) { m.Deleting = true }), works("d", "new", 1)},
		},
		"without one more, one less": {
			policy:   policy(func(p *Policy) { p.Surge, p.Unavailable = 0, 1 }),
			machines: []Machine{works("a", "old", 9), works("b", "old", 8), works("c", "old", 7)},
			want:     "delete c: it is of revision old and the newest is new",
		},
		"what never worked is not waited for": {
			policy: policy(nil), machines: []Machine{joins("a", "old", 9), joins("b", "old", 8), joins("c", "old", 30)},
			want: "delete c: it has not become ready within 20m0s: CertificateIssued: nobody answers\n" +
				"delete b: it is of revision old, never worked, and the newest is new\ndelete a: it is of revision old, never worked, and the newest is new\n" +
				"create 1: 3 machines of revision new are wanted and there are 0\nnext: 11m0s",
		},
		"a blip does not give the old ones up": {
			policy: policy(nil), machines: []Machine{silent("a", "old", 1), silent("b", "old", 1), silent("c", "old", 1), joins("d", "new", 1)},
			want: "next: 4m0s",
		},
		"one that failed is replaced": {
			policy: policy(nil), machines: []Machine{works("a", "new", 9), works("b", "new", 8), silent("c", "new", 6)},
			want: "delete c: its Node has been silent for 5m0s\ncreate 1: 3 machines of revision new are wanted and there are 2",
		},
		"one that failed is kept": {
			policy:   policy(func(p *Policy) { p.Keep = true }),
			machines: []Machine{works("a", "new", 9), works("b", "new", 8), silent("c", "new", 6)},
			want:     "keep c: its Node has been silent for 5m0s\ncreate 1: 3 machines of revision new are wanted and there are 2",
		},
		"as many are kept as may fail": {
			policy:   policy(func(p *Policy) { p.Keep = true }),
			machines: []Machine{with(silent("k", "new", 60), func(m *Machine) { m.Kept = true }), works("a", "new", 9), works("b", "new", 8), silent("c", "new", 6)},
			want:     "delete c: its Node has been silent for 5m0s\ncreate 1: 3 machines of revision new are wanted and there are 2",
		},
		"many fail at once": {
			policy: policy(nil), machines: []Machine{works("a", "new", 9), silent("b", "new", 6), silent("c", "new", 6)},
			want: "held: 2 of 3 machines have failed and at most 1 may: none is replaced, because something else is likely wrong; " +
				"b: its Node has been silent for 5m0s. Mend it, or raise health.maxUnhealthy",
		},
		"a wave of failures waits for the one before": {
			policy:   policy(nil),
			machines: []Machine{works("a", "new", 9), silent("b", "new", 6), with(silent("c", "new", 6), func(m *Machine) { m.Deleting = true })},
			want:     "create 1: 3 machines of revision new are wanted and there are 2",
		},
		"not ready, and not for long enough": {
			policy:   policy(nil),
			machines: []Machine{works("a", "new", 9), works("b", "new", 8), with(silent("c", "new", 6), func(m *Machine) { m.Node = NodeNotReady })},
			want:     "next: 4m0s",
		},
		"the place has no room": {
			policy:   policy(nil),
			machines: []Machine{works("a", "new", 90), works("b", "new", 80), with(joins("c", "new", 70), func(m *Machine) { m.Made = time.Time{} })},
		},
		"the cluster does not answer": {
			policy: policy(func(p *Policy) { p.Desired = 2 }), unreachable: "timeout",
			machines: []Machine{works("a", "old", 9), joins("b", "new", 3), joins("c", "new", 7), joins("d", "new", 7)},
			want:     "delete b: 2 machines are wanted and there are 4\nheld: nothing is replaced while the cluster cannot be asked about its Nodes: timeout\nnext: 13m0s",
		},
		"none are wanted": {
			policy: policy(func(p *Policy) { p.Desired = 0 }), machines: []Machine{works("a", "new", 9), works("b", "old", 8)},
			want: "delete b: it is of revision old and the newest is new\ndelete a: 0 machines are wanted and there are 1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := For(test.policy, test.machines, Around{Now: now, Entropy: []byte("dice"), Unreachable: test.unreachable})
			if diff := cmp.Diff(test.want, said(plan)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	taken := map[string]bool{}
	first := (&series{pool: "workers", entropy: []byte("dice")}).make(100, taken)
	if len(taken) != 100 || len(first[0]) != len("workers-")+5 || !strings.HasPrefix(first[0], "workers-") {
		t.Errorf("names: %v", first)
	}
	again := (&series{pool: "workers", entropy: []byte("dice")}).make(1, map[string]bool{first[0]: true})
	if again[0] != first[1] {
		t.Errorf("%s is taken, and then comes %s and not %s", first[0], again[0], first[1])
	}
	if other := (&series{pool: "workers", entropy: []byte("other")}).make(1, map[string]bool{}); other[0] == first[0] {
		t.Errorf("other entropy makes the same name %s", other[0])
	}
}

// TestSameNames wants two who see the same to make the same names, also if one sees what the other has just made, and no name to
// be given again that was used up.
func TestSameNames(t *testing.T) {
	around := Around{Now: now, Entropy: []byte("dice")}
	one := For(policy(nil), nil, around)
	half := For(policy(nil), []Machine{joins(one.Create[0], "new", 0)}, around)
	if diff := cmp.Diff(one.Create[1:], half.Create); diff != "" {
		t.Error(diff)
	}
	if one.Named != 0 || one.NamedThen != 3 || half.Named != 1 || half.NamedThen != 3 {
		t.Errorf("used up are %d, then %d; seen half-way %d, then %d", one.Named, one.NamedThen, half.Named, half.NamedThen)
	}
	around.Named = one.NamedThen
	for _, name := range For(policy(nil), nil, around).Create {
		if slices.Contains(one.Create, name) {
			t.Errorf("%s is given again", name)
		}
	}
}

func TestPolicyOf(t *testing.T) {
	share, number, none := intstr.FromString("50%"), intstr.FromInt32(2), intstr.FromString("0%")
	short := int32(60)
	tests := map[string]struct {
		health *api.Health
		limits Limits
		want   Policy
	}{
		"defaults": {
			limits: Limits{Desired: 10, Revision: "r", Surge: intstr.FromInt32(1)},
			want:   Policy{Pool: "p", Desired: 10, Revision: "r", Surge: 1, Startup: 1200e9, NotReady: 600e9, Silent: 300e9, Unhealthy: 4},
		},
		"shares: more may exist is rounded up, fewer may work is rounded down": {
			limits: Limits{Desired: 5, Surge: share, Unavailable: share},
			want:   Policy{Pool: "p", Desired: 5, Surge: 3, Unavailable: 2, Startup: 1200e9, NotReady: 600e9, Silent: 300e9, Unhealthy: 2},
		},
		"a share of few machines lets one go": {
			limits: Limits{Desired: 1, Surge: none, Unavailable: share},
			want:   Policy{Pool: "p", Desired: 1, Unavailable: 1, Startup: 1200e9, NotReady: 600e9, Silent: 300e9, Unhealthy: 1},
		},
		"health as said": {
			health: &api.Health{MaxUnhealthy: &number, StartupTimeoutSeconds: &short, NotReadyTimeoutSeconds: &short, UnknownTimeoutSeconds: &short, Failed: api.FailedKeep},
			limits: Limits{Desired: 3, Surge: number},
			want:   Policy{Pool: "p", Desired: 3, Surge: 2, Startup: 60e9, NotReady: 60e9, Silent: 60e9, Unhealthy: 2, Keep: true},
		},
		"never replace": {
			health: &api.Health{MaxUnhealthy: &none}, limits: Limits{Desired: 3, Surge: number},
			want: Policy{Pool: "p", Desired: 3, Surge: 2, Startup: 1200e9, NotReady: 600e9, Silent: 300e9},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pool := &api.NodePool{Spec: api.NodePoolSpec{Health: test.health, Machine: api.Machine{Sim: &api.SimMachine{}}}}
			pool.Name = "p"
			if diff := cmp.Diff(test.want, PolicyOf(pool, test.limits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
