// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
)

// born is when the first pool was made.
var born = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)

// newPool is a pool of virtual machines in the house, made some seconds after the first.
func newPool(name string, seconds int, replicas int32) api.NodePool {
	made := api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name, CreationTimestamp: metav1.NewTime(born.Add(time.Duration(seconds) * time.Second))}}
	made.Spec = api.NodePoolSpec{
		ClusterName: "shop", Role: "gateway", LocationRef: api.LocationReference{Kind: api.KindClusterLocation, Name: "house"}, Replicas: &replicas,
		Machine: api.Machine{KubeVirt: &api.KubeVirtMachine{Size: api.KubeVirtSize{InstanceType: "u1.medium"}}},
	}
	return made
}

// house is a place for everybody.
func house(limits *api.PlaceLimits) *api.LocationSpec {
	return &api.LocationSpec{KubeVirt: &api.KubeVirtLocation{Place: api.Place{Namespaces: &api.NamespaceSelector{}, Limits: limits}}}
}

func TestLocate(t *testing.T) {
	own := newPool("workers", 10, 5)
	number := func(n int32) *int32 { return &n }
	elder, younger := newPool("elder", 0, 8), newPool("younger", 20, 100)
	foreign := newPool("foreign", 0, 30)
	foreign.Namespace = "other"
	all := []api.NodePool{own, elder, younger, foreign}
	tests := map[string]struct {
		change func(*api.NodePool)
		at     pool.Placement
		want   string
	}{
		"a place that is not there": {at: pool.Placement{}, want: "held NotFound: ClusterLocation house does not exist: the pool waits for it"},
		"a place of another kind": {
			at:   pool.Placement{Spec: &api.LocationSpec{Sim: &api.SimLocation{Place: api.Place{Namespaces: &api.NamespaceSelector{}}}}},
			want: "held Invalid: ClusterLocation house makes sim machines, and spec.machine is kubevirt: make a new pool of the kind that the place has",
		},
		"a place that does not answer, and is offered to others": {
			at: pool.Placement{
				Spec:       &api.LocationSpec{Sim: &api.SimLocation{}},
				Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "Failed", Message: "the vault is closed"}},
			},
			want: "held Denied: ClusterLocation house is offered to no namespace: its owner has to select some by namespaces",
		},
		"a place that offers itself to nobody": {
			at:   pool.Placement{Spec: &api.LocationSpec{KubeVirt: &api.KubeVirtLocation{}}},
			want: "room 0 Denied: ClusterLocation house is offered to no namespace: its owner has to select some by namespaces",
		},
		"a place that is offered to others": {
			at: pool.Placement{
				Namespace: map[string]string{"tier": "gold"},
				Spec:      &api.LocationSpec{KubeVirt: &api.KubeVirtLocation{Place: api.Place{Namespaces: &api.NamespaceSelector{MatchLabels: map[string]string{"tier": "gold", "paid": "yes"}}}}},
			},
			want: "room 0 Denied: ClusterLocation house is not offered to namespace tenant: the namespace needs the labels paid=yes,tier=gold",
		},
		"a place that is offered to us": {
			at: pool.Placement{
				Namespace: map[string]string{"tier": "gold", "paid": "yes"},
				Spec:      &api.LocationSpec{KubeVirt: &api.KubeVirtLocation{Place: api.Place{Namespaces: &api.NamespaceSelector{MatchLabels: map[string]string{"tier": "gold"}}}}},
			},
			want: "room 5",
		},
		"a place of our own needs no offer": {
			change: func(p *api.NodePool) { p.Spec.LocationRef.Kind = api.KindLocation },
			at:     pool.Placement{Spec: &api.LocationSpec{KubeVirt: &api.KubeVirtLocation{}}}, want: "room 5",
		},
		"an instance type that is offered": {at: pool.Placement{Spec: house(&api.PlaceLimits{InstanceTypes: []string{"u1.medium"}})}, want: "room 5"},
		"an instance type that is not": {
			at:   pool.Placement{Spec: house(&api.PlaceLimits{InstanceTypes: []string{"u1.small", "u1.large"}})},
			want: "held Denied: ClusterLocation house does not offer the instance type u1.medium: choose one of u1.large, u1.small",
		},
		"amounts that would go around the list": {
			change: func(p *api.NodePool) { p.Spec.Machine.KubeVirt.Size = api.KubeVirtSize{Resources: &api.Resources{}} },
			at:     pool.Placement{Spec: house(&api.PlaceLimits{InstanceTypes: []string{"u1.small"}})},
			want:   "held Denied: ClusterLocation house offers instance types only: set machine.kubevirt.size.instanceType to one of u1.small",
		},
		"a place that does not answer": {
			at: pool.Placement{Spec: house(nil), Conditions: []metav1.Condition{{
				Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: api.ReasonDenied, Message: "Reachable: the token has expired",
			}}},
			want: "held Denied: ClusterLocation house is not ready: Reachable: the token has expired",
		},
		"room for a namespace": {at: pool.Placement{Spec: house(&api.PlaceLimits{MachinesPerNamespace: number(13)}), Pools: all}, want: "room 5"},
		"too little room for a namespace": {
			at:   pool.Placement{Spec: house(&api.PlaceLimits{MachinesPerNamespace: number(10)}), Pools: all},
			want: "room 2 Denied: ClusterLocation house allows 10 machines for a namespace, of which older pools claim 8: 2 of the 5 of this pool can be made; lower the number, or ask the place's owner for more",
		},
		"too little room in all": {
			at:   pool.Placement{Spec: house(&api.PlaceLimits{Machines: number(30), MachinesPerNamespace: number(13)}), Pools: all},
			want: "room 0 Denied: ClusterLocation house allows 30 machines in all, of which older pools claim 38: 0 of the 5 of this pool can be made; lower the number, or ask the place's owner for more",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			subject := *own.DeepCopy()
			if test.change != nil {
				test.change(&subject)
			}
			if diff := cmp.Diff(test.want, words(pool.Locate(&subject, test.at))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// words is a grant in words.
func words(grant pool.Grant) string {
	text := fmt.Sprintf("room %d", grant.Room)
	if grant.Held {
		text = "held"
	}
	if grant.Refusal != nil {
		text += " " + grant.Refusal.Reason + ": " + grant.Refusal.Message
	}
	return text
}

func TestAGrantTakesNothingAway(t *testing.T) {
	tests := map[string]struct{ room, wanted, have, want int32 }{
		"all is granted":                {10, 5, 0, 5},
		"less is granted":               {2, 5, 0, 2},
		"what is there stays":           {0, 5, 3, 3},
		"what is there does not grow":   {0, 5, 3, 3},
		"less is wanted than there is":  {0, 1, 3, 1},
		"more is granted than is there": {4, 5, 3, 4},
	}
	for name, test := range tests {
		if got := (pool.Grant{Room: test.room}).Of(test.wanted, test.have); got != test.want {
			t.Errorf("%s: %d; want %d", name, got, test.want)
		}
	}
}

func TestPlay(t *testing.T) {
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	elder, own, twin := newPool("elder", 0, 1), newPool("own", 10, 1), newPool("aaa", 10, 1)
	begun := *twin.DeepCopy()
	begun.Name, begun.Status.Revision = "zzz", "0123456789"
	compute := *elder.DeepCopy()
	compute.Spec.Role = "compute"
	many := newPool("own", 10, 3)
	role := func(per api.PerCluster) *api.NodeRole {
		return &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}, Spec: api.NodeRoleSpec{PerCluster: per}}
	}
	first := func(name string) string {
		return "Denied: a cluster has one pool of role gateway, and NodePool " + name + " came first: delete one of the two, or choose another role"
	}
	tests := map[string]struct {
		own      api.NodePool
		role     *api.NodeRole
		siblings []api.NodePool
		want     string
	}{
		"alone":                               {own, role(api.PerClusterOne), []api.NodePool{own}, ""},
		"an older one came first":             {own, role(api.PerClusterOne), []api.NodePool{own, elder}, first("elder")},
		"the older one itself":                {elder, role(api.PerClusterOne), []api.NodePool{own, elder}, ""},
		"of one second, the name decides":     {own, role(api.PerClusterOne), []api.NodePool{own, twin}, first("aaa")},
		"but not over one that has begun":     {twin, role(api.PerClusterOne), []api.NodePool{begun, twin}, first("zzz")},
		"an older one of another role":        {own, role(api.PerClusterOne), []api.NodePool{own, compute}, ""},
		"a role of which there may be many":   {own, role(api.PerClusterAny), []api.NodePool{own, elder}, ""},
		"machines that stand in for another":  {many, role(api.PerClusterHA), []api.NodePool{many}, ""},
		"two pools of those":                  {many, role(api.PerClusterHA), []api.NodePool{many, elder}, first("elder")},
		"several machines where one may be":   {many, role(api.PerClusterOne), nil, "Invalid: a cluster has one machine of role gateway, and the pool wants 3: lower it to 1, or choose a role whose perCluster is HA"},
		"a role for a control plane":          {own, &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "control-plane"}, Spec: api.NodeRoleSpec{MachineType: api.MachineControlPlane}}, nil, "Invalid: role control-plane is for machines that run a control plane, and TalosCluster shop has one elsewhere: choose a role for workers"},
		"a graphics processor that is absent": {own, &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: api.NodeRoleSpec{Hardware: &api.Hardware{GPU: api.GPUNVIDIA}}}, nil, "Invalid: role gpu needs a graphics processor of NVIDIA, without which its machines do not end their boot: set machine.kubevirt.gpus"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if refusal := pool.Play(&test.own, test.role, cluster, test.siblings); refusal != nil {
				got = refusal.Reason + ": " + refusal.Message
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKubelet(t *testing.T) {
	tests := map[string]struct {
		declared, serving api.KubernetesVersion
		want              string
	}{
		"the same":                     {"v1.35.2", "v1.35.2", "v1.35.2 false"},
		"the API server is behind":     {"v1.36.0", "v1.35.9", "v1.35.9 true"},
		"the API server is behind ten": {"v1.10.0", "v1.9.0", "v1.9.0 true"},
		"the API server is ahead":      {"v1.35.2", "v1.36.0", "v1.35.2 false"},
	}
	for name, test := range tests {
		cluster := &api.TalosCluster{Spec: api.TalosClusterSpec{KubernetesVersion: test.declared}, Status: api.TalosClusterStatus{KubernetesVersion: test.serving}}
		got, held, err := pool.Kubelet(cluster)
		if text := fmt.Sprint(got, " ", held); err != nil || text != test.want {
			t.Errorf("%s: %s, %v; want %s", name, text, err, test.want)
		}
	}
	if _, _, err := pool.Kubelet(&api.TalosCluster{}); err == nil {
		t.Error("no version is no error")
	}
}

func TestBudgetOf(t *testing.T) {
	number, share, seconds := intstr.FromInt32(3), intstr.FromString("25%"), int32(60)
	tests := map[string]struct {
		cluster, own *api.Rollout
		per          api.PerCluster
		metal        bool
		want         pool.Budget
	}{
		"nobody says anything":       {want: pool.Budget{Surge: intstr.FromInt32(1), DrainSeconds: 600}},
		"metal cannot be made":       {metal: true, want: pool.Budget{Unavailable: intstr.FromInt32(1), DrainSeconds: 600}},
		"the cluster says":           {cluster: &api.Rollout{MaxSurge: &number}, want: pool.Budget{Surge: number, DrainSeconds: 600}},
		"the pool says above it":     {cluster: &api.Rollout{MaxSurge: &number}, own: &api.Rollout{MaxSurge: &share, MaxUnavailable: &number, DrainTimeoutSeconds: &seconds}, want: pool.Budget{Surge: share, Unavailable: number, DrainSeconds: 60}},
		"a role that is never twice": {own: &api.Rollout{MaxSurge: &number}, per: api.PerClusterOne, want: pool.Budget{Unavailable: intstr.FromInt32(1), DrainSeconds: 600}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			own := newPool("own", 0, 1)
			own.Spec.Rollout = test.own
			if test.metal {
				own.Spec.Machine = api.Machine{Metal: &api.MetalMachine{}}
			}
			cluster := &api.TalosCluster{Spec: api.TalosClusterSpec{Rollout: test.cluster}}
			if diff := cmp.Diff(test.want, pool.BudgetOf(cluster, &own, &api.NodeRole{Spec: api.NodeRoleSpec{PerCluster: test.per}})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMachinesReady(t *testing.T) {
	waits := func(count int, waits, why string) []pool.Machine {
		var all []pool.Machine
		for range count {
			all = append(all, pool.Machine{Waits: waits, Why: why})
		}
		return all
	}
	tests := map[string]struct {
		seen   pool.Seen
		wanted int32
		want   string
	}{
		"all are ready":             {pool.Seen{Desired: 3, Replicas: 3, Ready: 3}, 3, "True Ready: 3 of 3 machines are Ready Nodes"},
		"with notes":                {pool.Seen{Desired: 1, Replicas: 1, Ready: 1, Notes: []string{"e", "b", "d", "a", "c"}}, 1, "True Ready: 1 of 1 machines are Ready Nodes; a; b; c; and 2 other machines"},
		"a note while one waits":    {pool.Seen{Desired: 1, Replicas: 1, Notes: []string{"a is kept"}}, 1, "False Progressing: 0 of 1 machines are Ready Nodes; a is kept"},
		"none is wanted":            {pool.Seen{}, 0, "True Ready: 0 of 0 machines are Ready Nodes"},
		"one is there from before":  {pool.Seen{Desired: 3, Replicas: 4, Ready: 4}, 3, "True Ready: 4 of 3 machines are Ready Nodes"},
		"the place grants too few":  {pool.Seen{Desired: 2, Replicas: 2, Ready: 2}, 3, "False Progressing: 2 of 3 machines are Ready Nodes"},
		"some wait for the same":    {pool.Seen{Desired: 5, Replicas: 5, Ready: 3, Machines: waits(2, "trustd", "connection refused")}, 5, "False Progressing: 3 of 5 machines are Ready Nodes; 2 of 5 machines wait for trustd: connection refused"},
		"one of one waits":          {pool.Seen{Desired: 1, Machines: waits(1, "its Node", "")}, 1, "False Progressing: 0 of 1 machines are Ready Nodes; 1 of 1 machine waits for its Node"},
		"the most frequent first":   {pool.Seen{Desired: 4, Machines: append(waits(1, "a", "x"), waits(2, "b", "y")...)}, 4, "False Progressing: 0 of 4 machines are Ready Nodes; 2 of 4 machines wait for b: y; 1 of 4 machines waits for a: x"},
		"too many causes":           {pool.Seen{Desired: 5, Machines: []pool.Machine{{Waits: "a"}, {Waits: "b"}, {Waits: "c"}, {Waits: "d"}, {Waits: "e"}}}, 5, "False Progressing: 0 of 5 machines are Ready Nodes; 1 of 5 machines waits for a; 1 of 5 machines waits for b; 1 of 5 machines waits for c; and 2 other causes"},
		"one has failed":            {pool.Seen{Desired: 1, Machines: []pool.Machine{{Failed: true, Waits: "its replacement", Why: "no Node in time"}}}, 1, "False Failed: 0 of 1 machines are Ready Nodes; 1 of 1 machine waits for its replacement: no Node in time"},
		"a ready one is no cause":   {pool.Seen{Desired: 2, Ready: 1, Machines: []pool.Machine{{Ready: true, Waits: "x"}}}, 2, "False Progressing: 1 of 2 machines are Ready Nodes"},
		"more machines than wanted": {pool.Seen{Desired: 1, Replicas: 2, Machines: waits(2, "its end", "")}, 1, "False Progressing: 0 of 1 machines are Ready Nodes; 2 of 2 machines wait for their end"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, sentence(pool.MachinesReady(test.seen, test.wanted))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sentence is a condition in words.
func sentence(condition metav1.Condition) string {
	return fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
}

func TestUpToDate(t *testing.T) {
	if got := sentence(pool.UpToDate(pool.Seen{Replicas: 3, UpToDate: 1})); !strings.HasPrefix(got, "False Progressing: 1 of 3 machines has the newest revision") {
		t.Error(got)
	}
	if got := sentence(pool.UpToDate(pool.Seen{Replicas: 3, UpToDate: 2, Passing: 1})); got != "True Ready: 2 of 3 machines have the newest revision" {
		t.Errorf("with one that goes away because it is one too many: %s", got)
	}
	if got := sentence(pool.UpToDate(pool.Seen{Replicas: 3, UpToDate: 3})); got != "True Ready: 3 of 3 machines have the newest revision" {
		t.Error(got)
	}
}

func TestConditions(t *testing.T) {
	before := []metav1.Condition{
		{Type: api.ConditionMachinesReady, Status: metav1.ConditionTrue, Reason: api.ReasonReady},
		{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: api.ReasonReady},
	}
	var now []metav1.Condition
	for _, kind := range []string{api.ConditionClusterReady, api.ConditionRoleReady, api.ConditionLocationReady} {
		now = append(now, pool.True(kind, "yes"))
	}
	now = append(now, pool.Refuse(api.ReasonInvalid, "a patch of %s", "cluster.id").Condition(api.ConditionConfigurationReady))
	got := pool.Conditions(before, now, 7)
	last := got[len(got)-1]
	if len(got) != 5 || last.Type != api.ConditionReady || sentence(last) != "False Invalid: ConfigurationReady: a patch of cluster.id" || last.ObservedGeneration != 7 || got[0].ObservedGeneration != 7 {
		t.Errorf("%+v", got)
	}
	now[3] = pool.True(api.ConditionConfigurationReady, "yes")
	if got = pool.Conditions(before, now, 7); got[4].Status != metav1.ConditionTrue {
		t.Errorf("what is known from before does not count: %+v", got[4])
	}
}

func TestRevision(t *testing.T) {
	text := "machine: {type: worker, nodeLabels: {a: b}}\n---\nkind: HostnameConfig\nauto: stable\n"
	first, err := pool.Revision([]byte(text))
	if err != nil || len(first) != 10 {
		t.Fatal(first, err)
	}
	for name, test := range map[string]struct {
		text string
		same bool
	}{
		"another style":        {"kind: HostnameConfig\nauto: \"stable\" # why\n---\nmachine:\n  nodeLabels:\n    a: b\n  type: worker\n", true},
		"another label":        {strings.Replace(text, "a: b", "a: c", 1), false},
		"a document is absent": {"machine: {type: worker, nodeLabels: {a: b}}\n", false},
	} {
		got, err := pool.Revision([]byte(test.text))
		if err != nil || (got == first) != test.same {
			t.Errorf("%s: %s and %s, %v", name, first, got, err)
		}
	}
	if _, err := pool.Revision([]byte("{")); err == nil {
		t.Error("nonsense is no error")
	}
}
