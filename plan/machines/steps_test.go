// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// reached are conditions of a machine that took all steps but some.
func reached(but ...string) []metav1.Condition {
	var all []metav1.Condition
	for _, step := range api.TalosMachineReady {
		condition := metav1.Condition{Type: step, Status: metav1.ConditionTrue, Reason: api.ReasonReady}
		for _, other := range but {
			if step == other {
				condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, api.ReasonProgressing, "as it was"
			}
		}
		all = append(all, condition)
	}
	return all
}

// short is conditions in a line: the status of each step as a letter, and what is wrong first.
func short(conditions []metav1.Condition) string {
	letters := ""
	for _, condition := range conditions {
		letters += string(condition.Status[0])
	}
	ready := api.TalosMachineReady.Ready(conditions, 0)
	if ready.Status == metav1.ConditionTrue {
		return letters
	}
	return letters + " " + ready.Reason + " " + ready.Message
}

func TestSteps(t *testing.T) {
	runs := Instance{Runs: true}
	answers := Talos{Asked: true, Address: "192.0.2.1", Answers: true, Stage: "booting"}
	silent := Talos{Asked: true, Address: "192.0.2.1", Problem: "connection refused"}
	booted := Talos{Asked: true, Address: "192.0.2.1", Answers: true, Booted: true, Kubelet: true, Stage: "running"}
	node := Node{Asked: true, Name: "w-1", Found: true, Ready: metav1.ConditionTrue}
	tests := map[string]struct {
		before []metav1.Condition
		facts  Facts
		want   string
	}{
		"nothing is known":      {want: "UUUUUUU NotYetKnown InstanceReady: nothing has been seen of it yet"},
		"the place has no room": {facts: Facts{Instance: Instance{Reason: api.ReasonNoCapacity, Message: "the quota is used up"}}, want: "FUUUUUU NoCapacity InstanceReady: the quota is used up"},
		"it is made":            {facts: Facts{Instance: Instance{Works: true}}, want: "FUUUUUU Progressing InstanceReady: the place makes the instance"},
		"it boots": {
			facts: Facts{Instance: runs, Talos: silent, Node: Node{Asked: true, Name: "w-1"}},
			want:  "TUFUFUU Progressing CertificateIssued: the Talos API at 192.0.2.1 does not answer: connection refused; if it stays so, look for the machine in the signer's log",
		},
		"it has no configuration": {
			facts: Facts{Instance: runs, Talos: Talos{Asked: true, Address: "192.0.2.1", Maintenance: true, Problem: "unknown authority"}, Node: Node{Asked: true, Name: "w-1"}},
			want:  "TFFUFUU Failed Configured: Talos at 192.0.2.1 waits for a configuration: it has not read its user data; look at the console of the instance",
		},
		"it has its certificate": {
			facts: Facts{Instance: runs, Talos: answers, Node: Node{Asked: true, Name: "w-1"}},
			want: "TTTFFUF Progressing KubeletAuthorized: the kubelet is not healthy yet: it waits for its image or its client certificate; " +
				"look at its log with talosctl, and at the tenant's certificate signing requests",
		},
		"it is a Node": {
			facts: Facts{Instance: runs, Talos: answers, Node: Node{Asked: true, Name: "w-1", Found: true, Ready: metav1.ConditionFalse, Message: "cni plugin not initialized"}},
			want:  "TTTTTFF Progressing NetworkReady: Node w-1 is not Ready: cni plugin not initialized",
		},
		"a service waits": {
			facts: Facts{Instance: runs, Talos: Talos{Asked: true, Answers: true, Waiting: []string{"service ext-a is Waiting: for a file"}}, Node: node},
			want:  "TTTTTTF Progressing ServicesRunning: service ext-a is Waiting: for a file",
		},
		"the boot is not complete": {facts: Facts{Instance: runs, Talos: answers, Node: node}, want: "TTTTTTF Progressing ServicesRunning: the boot is not complete: Talos is booting"},
		"it is ready":              {facts: Facts{Instance: runs, Talos: booted, Node: node}, want: "TTTTTTT"},
		"the machine cannot be reached from here": {
			facts: Facts{Instance: runs, Talos: silent, Node: node},
			want:  "TTUTTTU Unreadable CertificateIssued: the Node is there, but the Talos API at 192.0.2.1 does not answer: connection refused; look whether it can be reached from here",
		},
		"the machine has services that nobody has seen": {
			facts: Facts{Instance: runs, Talos: silent, Node: node, Unproven: true},
			want:  "TTUTTTF Progressing ServicesRunning: nobody has seen yet whether the services of the image run: connection refused; if it stays so, look whether the Talos API can be reached from here",
		},
		"it has services, and nobody was asked": {
			facts: Facts{Instance: runs, Node: node, Unproven: true},
			want:  "TTUTTTF Progressing ServicesRunning: nobody has seen yet whether the services of the image run: the Talos API was not asked; if it stays so, look whether the Talos API can be reached from here",
		},
		"a service waited when it was last seen": {
			before: reached(api.ConditionServicesRunning), facts: Facts{Instance: runs, Talos: silent, Node: node, Unproven: true},
			want: "TTTTTTF Progressing ServicesRunning: as it was",
		},
		"its services run":                {facts: Facts{Instance: runs, Talos: booted, Node: node, Unproven: true}, want: "TTTTTTT"},
		"its services ran when last seen": {before: reached(), facts: Facts{Instance: runs, Talos: silent, Node: node, Unproven: true}, want: "TTTTTTT"},
		"one answer is missing":           {before: reached(), facts: Facts{Instance: runs, Talos: silent, Node: node}, want: "TTTTTTT"},
		"the place cannot say":            {before: reached(), facts: Facts{Instance: Instance{Reason: api.ReasonProgressing, Message: "try later"}, Node: node}, want: "TTTTTTT"},
		"the cluster cannot say":          {before: reached(api.ConditionNetworkReady), facts: Facts{Instance: runs, Talos: booted}, want: "TTTTTFT Progressing NetworkReady: as it was"},
		"the instance died":               {before: reached(), facts: Facts{Instance: Instance{Lost: "the host broke"}, Node: node}, want: "FTTTTTT Failed InstanceReady: the host broke"},
		"the instance is off":             {before: reached(), facts: Facts{Instance: Instance{Off: true}, Node: node}, want: "FTTTTTT Waiting InstanceReady: the instance is switched off: switch it on, or delete the machine"},
		"the Node is silent":              {before: reached(), facts: Facts{Instance: runs, Talos: booted, Node: Node{Asked: true, Name: "w-1", Found: true, Ready: metav1.ConditionUnknown, Message: "no lease"}}, want: "TTTTTUT Unreadable NetworkReady: Node w-1 says nothing: no lease"},
		"the Node was deleted":            {before: reached(), facts: Facts{Instance: runs, Talos: booted, Node: Node{Asked: true, Name: "w-1"}}, want: "TTTTFTT NotFound NodeRegistered: Node w-1 was deleted: the kubelet makes it again when it restarts"},
		"the Node is another machine":     {facts: Facts{Instance: runs, Talos: booted, Node: Node{Asked: true, Name: "w-1", Found: true, Foreign: "sim:///x"}}, want: "TTTTFUT Failed NodeRegistered: Node w-1 has provider ID sim:///x, which is another instance: delete that Node"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after := Steps(test.before, test.facts)
			if diff := cmp.Diff(test.want, short(after)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(after, Steps(after, test.facts)); diff != "" {
				t.Errorf("the same facts give something else: %s", diff)
			}
		})
	}
}

// TestUnproven wants a machine whose Node is Ready to count only after its services were seen, if its image has some: until then a boot
// that never ends looks the same.
func TestUnproven(t *testing.T) {
	silent := Talos{Asked: true, Address: "192.0.2.1", Problem: "connection refused"}
	node := Node{Asked: true, Name: "w-1", Found: true, Ready: metav1.ConditionTrue}
	booted := Talos{Asked: true, Address: "192.0.2.1", Answers: true, Booted: true, Kubelet: true, Stage: "running"}
	for _, unproven := range []bool{true, false} {
		var conditions []metav1.Condition
		available := func(talos Talos) bool {
			conditions = Steps(conditions, Facts{Instance: Instance{Runs: true}, Talos: talos, Node: node, Unproven: unproven})
			return isAvailable(conditions)
		}
		if got := []bool{available(Talos{}), available(silent), available(booted), available(silent), available(Talos{})}; !slices.Equal(got, []bool{!unproven, !unproven, true, true, true}) {
			t.Errorf("unproven %t: it is available: %v", unproven, got)
		}
	}
}

func TestSee(t *testing.T) {
	at := metav1.NewTime(now)
	object := func(change func(*api.TalosMachine)) *api.TalosMachine {
		one := &api.TalosMachine{Spec: api.TalosMachineSpec{Revision: "r"}}
		one.Name, one.CreationTimestamp = "w-1", at
		for _, condition := range reached() {
			condition.LastTransitionTime = at
			one.Status.Conditions = append(one.Status.Conditions, condition)
		}
		change(one)
		return one
	}
	set := func(one *api.TalosMachine, step string, status metav1.ConditionStatus, reason string) {
		for at := range one.Status.Conditions {
			if one.Status.Conditions[at].Type == step {
				one.Status.Conditions[at].Status, one.Status.Conditions[at].Reason, one.Status.Conditions[at].Message = status, reason, "words"
			}
		}
	}
	base := Machine{Name: "w-1", Revision: "r", Created: now, Joined: true, Available: true, Node: NodeReady, Since: now}
	tests := map[string]struct {
		change func(*api.TalosMachine)
		want   Machine
	}{
		"it works": {func(*api.TalosMachine) {}, base},
		"its Talos API cannot be reached": {
			func(one *api.TalosMachine) {
				set(one, api.ConditionCertificateIssued, metav1.ConditionUnknown, api.ReasonUnreadable)
			},
			with(base, func(m *Machine) { m.Step = "CertificateIssued: words" }),
		},
		"a service does not run": {
			func(one *api.TalosMachine) {
				set(one, api.ConditionServicesRunning, metav1.ConditionFalse, api.ReasonProgressing)
			},
			with(base, func(m *Machine) { m.Available, m.Joined, m.Step = false, false, "ServicesRunning: words" }),
		},
		"it joined once, and its Node is silent": {
			func(one *api.TalosMachine) {
				one.Annotations = map[string]string{AnnotationJoined: "2026-11-15T11:00:00Z", AnnotationMade: "2026-11-15T12:00:00Z", AnnotationDeleteFirst: "", AnnotationKept: "x"}
				set(one, api.ConditionNetworkReady, metav1.ConditionUnknown, api.ReasonUnreadable)
			},
			with(base, func(m *Machine) {
				m.Available, m.Node, m.Step, m.Made, m.First, m.Kept = false, NodeSilent, "NetworkReady: words", now, true, true
			}),
		},
		"its instance died": {
			func(one *api.TalosMachine) {
				set(one, api.ConditionInstanceReady, metav1.ConditionFalse, api.ReasonFailed)
			},
			with(base, func(m *Machine) {
				m.Available, m.Joined, m.Failed, m.Step = false, false, "words", "InstanceReady: words"
			}),
		},
		"its Node was deleted": {
			func(one *api.TalosMachine) {
				set(one, api.ConditionNodeRegistered, metav1.ConditionFalse, api.ReasonNotFound)
			},
			with(base, func(m *Machine) {
				m.Available, m.Joined, m.Node, m.Step = false, false, NodeSilent, "NodeRegistered: words"
			}),
		},
		"nothing is known": {
			func(one *api.TalosMachine) { one.Status.Conditions = nil },
			Machine{Name: "w-1", Revision: "r", Created: now, Step: "InstanceReady: not looked at yet"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, See(object(test.change))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
