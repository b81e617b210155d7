// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/plan/pool"
)

// TestLasting names configurations without the labels that a Node is registered with, in both shapes.
func TestLasting(t *testing.T) {
	const old = "version: v1alpha1\nmachine:\n  kubelet:\n    image: k\n    extraArgs:\n      node-labels: example.com/a=b,example.com/c=d\n"
	const new = "version: v1alpha1\n---\napiVersion: v1alpha1\nkind: KubeletConfig\nimage: k\nextraArgs:\n  node-labels: [example.com/a=b, example.com/c=d]\n"
	name := func(text string) string {
		t.Helper()
		found, err := pool.Lasting([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, text := range []string{old, new} {
		labels, err := pool.Labels([]byte(text))
		if diff := cmp.Diff(map[string]string{"example.com/a": "b", "example.com/c": "d"}, labels); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if name(text) != name(strings.Replace(text, "a=b", "a=z", 1)) {
			t.Error("another label is another revision")
		}
		without, _, _ := strings.Cut(text, "extraArgs")
		if name(text) != name(strings.TrimRight(without, " ")) {
			t.Error("no label at all is another revision")
		}
		if name(text) == name(strings.Replace(text, "image: k", "image: l", 1)) {
			t.Error("another kubelet is the same revision")
		}
		if name(text) == name(strings.Replace(text, "node-labels", "event-qps", 1)) {
			t.Error("another argument is the same revision")
		}
	}
	if labels, err := pool.Labels([]byte("machine: {nodeLabels: {a: b}}\n")); err != nil || labels == nil || len(labels) != 0 {
		t.Errorf("%v, %v: known to be none", labels, err)
	}
}

// TestUpToDateRefused says in Talos's words why machines are replaced that could have been changed.
func TestUpToDateRefused(t *testing.T) {
	seen := pool.Seen{Replicas: 3, UpToDate: 1, Machines: []pool.Machine{{Name: "a", Ready: true}, {Name: "b", Refused: "not now"}, {Name: "c", Refused: "not now"}}}
	const want = "False Failed: 1 of 3 machines has the newest revision; the others are replaced within the limits of rollout; Talos does not take it while it runs on 2: not now"
	if got := sentence(pool.UpToDate(seen)); got != want {
		t.Errorf("%s", got)
	}
}
