// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/plan/virtual"
)

// ten is when a drain began.
var ten = time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)

// pair is a machine of Cluster API with its virtual one, each with annotations.
func pair(machine, virtual string) string {
	return strings.NewReplacer("MACHINE", machine, "VIRTUAL", virtual).Replace(`
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-a, annotations: {MACHINE}}
spec: {infrastructureRef: {name: workers-a}}
---
kind: KubevirtMachine
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
metadata: {name: workers-a, annotations: {VIRTUAL}}
`)
}

func TestDrains(t *testing.T) {
	const grace = `capk.cluster.x-k8s.io/vmi-deletion-grace-time: "2026-11-15T10:10:00Z"`
	const marked = `minos.dev/drained: "2026-11-15T10:00:00Z boot-1"`
	begun := virtual.Drain{Machine: "workers-a", Node: "workers-a", Since: ten}
	with := func(change func(*virtual.Drain)) []virtual.Drain {
		drain := begun
		change(&drain)
		return []virtual.Drain{drain}
	}
	tests := map[string]struct {
		machine, virtual, noticed string
		want                      []virtual.Drain
	}{
		"none":                                   {},
		"one begins":                             {virtual: grace, want: with(func(d *virtual.Drain) { d.New = true })},
		"one was over before a look":             {noticed: "2026-11-15T10:10:00Z", want: with(func(d *virtual.Drain) { d.New, d.Over = true, true })},
		"one goes on":                            {machine: marked, virtual: grace, noticed: "2026-11-15T10:10:00Z", want: with(func(d *virtual.Drain) { d.Boot = "boot-1" })},
		"one goes on, and its boot is not known": {machine: `minos.dev/drained: "2026-11-15T10:00:00Z"`, virtual: grace, want: with(func(d *virtual.Drain) { d.New = true })},
		"one is over":                            {machine: marked, want: with(func(d *virtual.Drain) { d.Boot, d.Over = "boot-1", true })},
		"another begins":                         {machine: `minos.dev/drained: "2026-11-15T08:00:00Z boot-0"`, virtual: grace, want: with(func(d *virtual.Drain) { d.New = true })},
		"a time that is none":                    {virtual: "capk.cluster.x-k8s.io/vmi-deletion-grace-time: soon"},
		"a mark that is none":                    {machine: "minos.dev/drained: yesterday"},
		"a provider that undoes itself":          {machine: marked, virtual: `capk.cluster.x-k8s.io/node-cordoned: ""`, want: with(func(d *virtual.Drain) { d.Boot, d.Over, d.Theirs = "boot-1", true, true })},
	}
	for name, test := range tests {
		got := read(t, pair(test.machine, test.virtual)).Drains(map[string]string{"workers-a": test.noticed})
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	leaving := strings.Replace(pair("", grace), "name: workers-a,", `name: workers-a, deletionTimestamp: "2026-11-15T09:00:00Z",`, 1)
	if got := read(t, leaving).Drains(nil); got != nil {
		t.Errorf("the Node of a machine on its way out is looked after: %v", got)
	}
}

// TestAfterADrain tells the provider's cordon from all others.
func TestAfterADrain(t *testing.T) {
	entry := func(manager string, at time.Time, fields string) metav1.ManagedFieldsEntry {
		written := metav1.NewTime(at)
		return metav1.ManagedFieldsEntry{Manager: manager, Time: &written, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const cordon = `{"f:spec":{"f:unschedulable":{}}}`
	provider := entry("manager", ten.Add(time.Second), cordon)
	tests := map[string]struct {
		change func(*virtual.Drain, *corev1.Node)
		want   virtual.Cordon
		text   string
	}{
		"the provider's": {func(*virtual.Drain, *corev1.Node) {}, virtual.Undo, ""},
		"the provider's, in that very second": {func(_ *virtual.Drain, n *corev1.Node) {
			n.ManagedFields = []metav1.ManagedFieldsEntry{entry("manager", ten, cordon)}
		}, virtual.Undo, ""},
		"it is still drained":    {func(d *virtual.Drain, _ *corev1.Node) { d.Over = false }, virtual.Wait, ""},
		"it has not stopped yet": {func(_ *virtual.Drain, n *corev1.Node) { n.Status.NodeInfo.BootID = "boot-1" }, virtual.Wait, ""},
		"it does not work yet":   {func(_ *virtual.Drain, n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, virtual.Wait, ""},
		"nothing is known of it": {func(_ *virtual.Drain, n *corev1.Node) { n.Status.Conditions = nil }, virtual.Wait, ""},
		"the boot is not known":  {func(d *virtual.Drain, _ *corev1.Node) { d.Boot = "" }, virtual.Wait, ""},
		"it began to work since": {func(d *virtual.Drain, n *corev1.Node) {
			d.Boot, n.Status.Conditions[0].LastTransitionTime = "", metav1.NewTime(ten.Add(time.Minute))
		}, virtual.Undo, ""},
		"it began to work in that very second": {func(d *virtual.Drain, n *corev1.Node) {
			d.Boot, n.Status.Conditions[0].LastTransitionTime = "", metav1.NewTime(ten)
		}, virtual.Undo, ""},
		"it takes pods": {func(_ *virtual.Drain, n *corev1.Node) { n.Spec.Unschedulable = false }, virtual.Forget, ""},
		"it takes pods, and is about to be cordoned": {func(d *virtual.Drain, n *corev1.Node) { d.Over, n.Spec.Unschedulable = false, false }, virtual.Wait, ""},
		"the provider undoes it":                     {func(d *virtual.Drain, _ *corev1.Node) { d.Theirs = true }, virtual.Forget, ""},
		"a person's": {func(_ *virtual.Drain, n *corev1.Node) {
			n.ManagedFields = []metav1.ManagedFieldsEntry{entry("manager", ten, `{"f:spec":{"f:providerID":{}}}`), entry("kubectl-cordon", ten.Add(time.Hour), cordon)}
		}, virtual.Leave, "because kubectl-cordon cordoned it: run kubectl uncordon workers-a"},
		"the provider's of long ago, or another program's of that name": {func(_ *virtual.Drain, n *corev1.Node) {
			n.ManagedFields = []metav1.ManagedFieldsEntry{entry("manager", ten.Add(-time.Second), cordon)}
		}, virtual.Leave, "because manager cordoned it"},
		"nobody's": {func(_ *virtual.Drain, n *corev1.Node) {
			n.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}, entry("y", ten, "{")}
		}, virtual.Leave, "because somebody unknown cordoned it"},
	}
	for name, test := range tests {
		drain := virtual.Drain{Machine: "workers-a", Node: "workers-a", Since: ten, Boot: "boot-1", Over: true}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "workers-a", ManagedFields: []metav1.ManagedFieldsEntry{provider}}, Spec: corev1.NodeSpec{Unschedulable: true}}
		node.Status.NodeInfo.BootID = "boot-2"
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(ten.Add(-time.Hour))}}
		test.change(&drain, node)
		got, text := drain.After(node)
		if got != test.want || !strings.Contains(text, test.text) || (text == "") != (test.text == "") {
			t.Errorf("%s: %v %q; want %v", name, got, text, test.want)
		}
	}
}

// TestMark writes a drain down so that it is read back the same.
func TestMark(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{BootID: "boot-1"}}}
	for over, want := range map[bool]string{false: "2026-11-15T10:00:00Z boot-1", true: "2026-11-15T10:00:00Z"} {
		drain := virtual.Drain{Machine: "workers-a", Node: "workers-a", Since: ten, Over: over}
		mark := drain.Mark(node)
		if mark != want {
			t.Errorf("over %v: %q", over, mark)
		}
		back := read(t, pair(`minos.dev/drained: "`+mark+`"`, "")).Drains(nil)
		if len(back) != 1 || !back[0].Since.Equal(ten) || (back[0].Boot == "") != over {
			t.Errorf("over %v: read back as %+v", over, back)
		}
	}
}
