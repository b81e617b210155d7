// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
	"minos.dev/minos/sim/machine"
)

// begin is when a test's environment was started.
var begin = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// after is so many seconds later.
func after(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

// steps are those of a machine that has reached some of them, one a second, and waits at the next for a reason.
func steps(reached int, reason string) []machine.Progress {
	var all []machine.Progress
	for at, step := range machine.Steps() {
		progress := machine.Progress{Step: step}
		if at < reached {
			progress.Reached = after(float64(at + 1))
		}
		if at == reached {
			progress.Reason = reason
		}
		all = append(all, progress)
	}
	return all
}

// seen is a cluster with two pools, of which one has a name that begins with the other's.
func seen(ready metav1.ConditionStatus, message string) doctor.Seen {
	conditions := []metav1.Condition{{Type: api.ConditionReady, Status: ready, Message: message}}
	one, two := int32(1), int32(2)
	pool := func(name string, wanted *int32) api.NodePool {
		found := api.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.NodePoolSpec{Role: "plain", Replicas: wanted}}
		found.Status = api.NodePoolStatus{Conditions: conditions, ReadyReplicas: wanted}
		return found
	}
	cluster := api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	cluster.Status.Conditions = conditions
	return doctor.Seen{Clusters: []api.TalosCluster{cluster}, Pools: []api.NodePool{pool("web", &one), pool("web-large", &two)}}
}

// TestReady is when all is: by the word of the operator and by that of the machines.
func TestReady(t *testing.T) {
	all := []machine.Status{
		{Machine: "tenant-shop/web-a", Steps: steps(7, "")}, {Machine: "web-large-a", Steps: steps(7, "")}, {Machine: "web-large-b", Steps: steps(7, "")},
	}
	short := append(append([]machine.Status{}, all[:2]...), machine.Status{Machine: "web-large-b", Steps: steps(6, "")})
	for name, test := range map[string]struct {
		seen     doctor.Seen
		machines []machine.Status
		want     bool
	}{
		"all":                               {seen(metav1.ConditionTrue, ""), all, true},
		"nothing":                           {doctor.Seen{}, nil, false},
		"the operator says no":              {seen(metav1.ConditionFalse, "MachinesReady: 0 of 1"), all, false},
		"the objects tell of an older time": {seen(metav1.ConditionTrue, ""), nil, false},
		"a machine still boots":             {seen(metav1.ConditionTrue, ""), short, false},
	} {
		t.Run(name, func(t *testing.T) {
			if view := viewOf(test.seen, test.machines, begin); view.Ready() != test.want {
				t.Errorf("%+v", view)
			}
		})
	}
	view := viewOf(seen(metav1.ConditionTrue, ""), all, begin)
	if got := fmt.Sprint(namesOf(view.Of("web")), namesOf(view.Of("web-large"))); got != "[web-a] [web-large-a web-large-b]" {
		t.Errorf("the machines are of the pools %s", got)
	}
}

// TestHappened is what is told of a short life, look by look.
func TestHappened(t *testing.T) {
	cluster := func(ready bool, step, waits string, since float64) []Object {
		return []Object{{Name: "shop", Ready: ready, Step: step, Waits: waits, Since: after(since)}}
	}
	one := func(reached, boots int, stage, reason string) []Machine {
		return []Machine{{Name: "web-a", Stage: stage, Boots: boots, Steps: steps(reached, reason)}}
	}
	views := []View{
		{At: after(0.1), Clusters: cluster(false, "Ready", "nobody has looked at it yet", 0)},
		{At: after(1), Clusters: cluster(false, "ControlPlaneReady", "it is being made", 1)},
		{At: after(2), Clusters: cluster(false, "ControlPlaneReady", "it is still being made", 1)},
		{At: after(6.5), Clusters: cluster(false, "ControlPlaneReady", "it is still being made", 1), Machines: one(0, 1, "booting", "")},
		{At: after(7), Clusters: cluster(true, "", "", 7), Machines: one(1, 1, "booting", "no answer")},
		{At: after(9), Clusters: cluster(true, "", "", 7), Machines: one(1, 1, "booting", "no answer")},
		{At: after(13), Clusters: cluster(true, "", "", 7), Machines: one(1, 1, "booting", "no answer")},
		{At: after(14), Clusters: cluster(true, "", "", 7), Machines: one(7, 2, "running", "")},
		{At: after(15), Clusters: cluster(true, "", "", 7), Machines: one(7, 2, "off", "")},
		{At: after(16), Clusters: cluster(true, "", "", 7)},
	}
	var told []string
	var before View
	for _, view := range views {
		view = view.carrying(before)
		for _, line := range happened(before, view, begin) {
			told = append(told, strings.Join(strings.Fields(line.String()), " "))
		}
		before = view
	}
	want := []string{
		"1.0s cluster shop - waits for ControlPlaneReady",
		"6.5s cluster shop - waits for ControlPlaneReady: it is still being made",
		"6.5s web-a - is made",
		"1.0s web-a config reached",
		"7.0s cluster shop - is Ready",
		"13.0s web-a trustd waits: no answer",
		"2.0s web-a trustd reached", "3.0s web-a kubelet reached", "4.0s web-a node reached", "5.0s web-a cni reached",
		"6.0s web-a services reached", "7.0s web-a ready reached", "14.0s web-a - boots for the second time",
		"15.0s web-a - is in stage off",
		"16.0s web-a - is gone",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestSuggestions wants what is suggested to survive a shell, wherever the folder is.
func TestSuggestions(t *testing.T) {
	for _, folder := range []string{"/home/jo/.cache/minos/dev", "/tmp/it's mine/dev $HOME"} {
		for _, one := range Suggestions(Access{Management: folder + "/kubeconfig", Tenant: folder + "/shop.kubeconfig", Talos: folder + "/talosconfig"}, Programs{"bin/minos", "bin/minos-kube"}) {
			if quoted := quote(folder); strings.Contains(folder, " ") && !strings.Contains(one.Command, strings.TrimSuffix(quoted, "'")) {
				t.Errorf("%s", one.Command)
			}
		}
	}
	for word, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "": "''", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := quote(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}

// namesOf are the names of machines.
func namesOf(machines []Machine) []string {
	var all []string
	for _, one := range machines {
		all = append(all, one.Name)
	}
	slices.Sort(all)
	return all
}
