// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEnd(t *testing.T) {
	base := Ending{Since: now, Drain: 10 * time.Minute, Patience: 2 * time.Minute, Node: true, Instance: InstanceThere}
	tests := map[string]struct {
		change func(*Ending)
		after  time.Duration
		want   EndStep
	}{
		"it takes no more pods":             {func(*Ending) {}, 0, EndCordon},
		"its pods leave":                    {func(e *Ending) { e.Cordoned, e.Pods = true, 3 }, time.Minute, EndEvict},
		"they have left":                    {func(e *Ending) { e.Cordoned = true }, time.Minute, EndDeleteInstance},
		"they have had their time":          {func(e *Ending) { e.Cordoned, e.Pods = true, 3 }, 10 * time.Minute, EndDeleteInstance},
		"they have as long as it takes":     {func(e *Ending) { e.Cordoned, e.Pods, e.Drain = true, 3, 0 }, time.Hour, EndEvict},
		"nobody ends them":                  {func(e *Ending) { e.Cordoned, e.Pods, e.Ending, e.Silent = true, 3, 3, true }, time.Minute, EndDeleteInstance},
		"nobody ends them, and one is new":  {func(e *Ending) { e.Cordoned, e.Pods, e.Ending, e.Silent = true, 3, 2, true }, time.Minute, EndEvict},
		"there is no Node":                  {func(e *Ending) { e.Node = false }, 0, EndDeleteInstance},
		"the instance is dead":              {func(e *Ending) { e.Instance, e.Pods = InstanceDead, 3 }, 0, EndDeleteInstance},
		"the cluster does not answer":       {func(e *Ending) { e.Unanswered, e.Node = "timeout", false }, time.Minute, EndWait},
		"and has not for long":              {func(e *Ending) { e.Unanswered, e.Node = "timeout", false }, 2 * time.Minute, EndDeleteInstance},
		"and never will":                    {func(e *Ending) { e.Unanswered, e.Node, e.Absent = "gone", false, true }, 0, EndDeleteInstance},
		"the instance is gone":              {func(e *Ending) { e.Instance = InstanceGone }, 0, EndDeleteNode},
		"the Node too":                      {func(e *Ending) { e.Instance, e.Node = InstanceGone, false }, 0, EndRelease},
		"the Node cannot be deleted yet":    {func(e *Ending) { e.Instance, e.Node, e.Unanswered = InstanceGone, false, "timeout" }, time.Minute, EndWait},
		"the Node is left to the next loop": {func(e *Ending) { e.Instance, e.Node, e.Unanswered = InstanceGone, false, "timeout" }, 2 * time.Minute, EndRelease},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ending := base
			test.change(&ending)
			if step, why := End(ending, now.Add(test.after)); step != test.want || why == "" {
				t.Errorf("%s: %s, want %s", step, why, test.want)
			}
		})
	}
}

func TestLeaves(t *testing.T) {
	owned := func(kind string) metav1.ObjectMeta {
		return metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}}
	}
	tests := map[string]struct {
		pod  corev1.Pod
		want bool
	}{
		"a pod of nobody":        {corev1.Pod{}, true},
		"a pod of a ReplicaSet":  {corev1.Pod{ObjectMeta: owned("ReplicaSet")}, true},
		"a pod of a DaemonSet":   {corev1.Pod{ObjectMeta: owned("DaemonSet")}, false},
		"a pod of the kubelet":   {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{mirror: "x"}}}, false},
		"a pod that has ended":   {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, false},
		"a pod that has failed":  {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, false},
		"a pod that only begins": {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, true},
	}
	for name, test := range tests {
		if got := Leaves(&test.pod); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestVanished(t *testing.T) {
	gone := func(name string) Left { return Left{Name: name, Gone: true} }
	const removed = "the place says that its instance is gone"
	tests := map[string]struct {
		left []Left
		all  int
		want Verdicts
	}{
		"one is gone":                      {[]Left{gone("a")}, 1, Verdicts{Remove: []Reasoned{{"a", removed}}}},
		"its instance is there":            {[]Left{{Name: "a"}}, 1, Verdicts{Hold: []Reasoned{{"a", "its instance is there"}}}},
		"the place cannot say":             {[]Left{{Name: "a", Unknown: "denied"}}, 9, Verdicts{Hold: []Reasoned{{"a", "the place cannot say whether its instance is there: denied"}}}},
		"it is Ready, whatever others say": {[]Left{{Name: "a", Gone: true, Alive: true}}, 9, Verdicts{Hold: []Reasoned{{"a", "the place says that its instance is gone, and yet it is Ready"}}}},
		"as many as may vanish":            {[]Left{gone("a"), gone("b"), gone("c")}, 10, Verdicts{Remove: []Reasoned{{"a", removed}, {"b", removed}, {"c", removed}}}},
		"more than that: something is wrong": {[]Left{gone("a"), gone("b"), gone("c")}, 9, Verdicts{
			Hold:    []Reasoned{{"a", removed}, {"b", removed}, {"c", removed}},
			Stopped: "3 of 9 Nodes are left over at once, which is more than 30%: none is removed; look whether the account, the place or the management cluster was changed",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Vanished(test.left, test.all)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	left := []Left{{Name: "young", Made: now.Add(-time.Minute)}, {Name: "old", Made: now.Add(-15 * time.Minute)}}
	want := Verdicts{
		Hold:   []Reasoned{{"young", "no TalosMachine claims it; it is 1m0s old and is given 15m0s"}},
		Remove: []Reasoned{{"old", "no TalosMachine has claimed it for 15m0s"}},
	}
	if diff := cmp.Diff(want, Orphans(left, 2, 15*time.Minute, now)); diff != "" {
		t.Error(diff)
	}
	if many := Orphans([]Left{left[1], left[1]}, 4, time.Minute, now); many.Stopped == "" || len(many.Remove) > 0 || len(many.Hold) != 2 {
		t.Errorf("two of four at once: %+v", many)
	}
}
