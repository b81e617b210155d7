// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// A group is machines of a pool that wait for the same, for the same reason.
type group struct {
	step     metav1.Condition // with the earliest time of all
	machines []api.TalosMachine
}

// stuck groups the machines that are not Ready, in the order of the steps. Those that go are not among them.
func stuck(machines []api.TalosMachine) []group {
	type same struct {
		step            int
		reason, message string
	}
	groups := map[same]*group{}
	for _, machine := range machines {
		if !machine.DeletionTimestamp.IsZero() {
			continue
		}
		at := slices.IndexFunc(api.TalosMachineReady, func(step string) bool {
			return !meta.IsStatusConditionTrue(machine.Status.Conditions, step)
		})
		if at < 0 {
			continue
		}
		step := stepOf(&machine, api.TalosMachineReady[at])
		key := same{at, step.Reason, step.Message}
		if groups[key] == nil {
			groups[key] = &group{step: step}
		}
		if groups[key].step.LastTransitionTime.After(step.LastTransitionTime.Time) {
			groups[key].step.LastTransitionTime = step.LastTransitionTime
		}
		groups[key].machines = append(groups[key].machines, machine)
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b same) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.reason, b.reason), cmp.Compare(a.message, b.message))
	})
	sorted := make([]group, 0, len(order))
	for _, key := range order {
		sorted = append(sorted, *groups[key])
	}
	return sorted
}

// stepOf is the condition of a step. One that was not looked at begins when the step before it was reached.
func stepOf(machine *api.TalosMachine, step string) metav1.Condition {
	if seen := meta.FindStatusCondition(machine.Status.Conditions, step); seen != nil {
		return *seen
	}
	since := machine.CreationTimestamp
	for _, before := range api.TalosMachineReady[:slices.Index(api.TalosMachineReady, step)] {
		if reached := meta.FindStatusCondition(machine.Status.Conditions, before); reached != nil {
			since = reached.LastTransitionTime
		}
	}
	return metav1.Condition{Type: step, Status: metav1.ConditionUnknown, Reason: api.ReasonNotYetKnown, LastTransitionTime: since}
}

// machines examines the machines of a pool, those with the same trouble together.
func (e examination) machines(pool *api.NodePool) []Finding {
	mine := e.seen.machines(pool)
	served := meta.IsStatusConditionTrue(pool.Status.Conditions, api.ConditionReady)
	var found []Finding
	for _, group := range stuck(mine) {
		at := e.situationOf(pool)
		at.ofMachine(&group.machines[0])
		cause, look := advise(at, group.step)
		severity := e.severity(group.step, startupOf(pool))
		if severity == Waiting && served {
			severity = Note // one that is made beside those that serve
		}
		finding := patient{kind: "NodePool", object: pool.ObjectMeta}.about(severity, group.step, look)
		finding.Cause = fmt.Sprintf("%d of %s %s: %s", len(group.machines), plural(len(mine), "machine"), waits(group), cause)
		for _, machine := range group.machines {
			finding.Machines = append(finding.Machines, machine.Name)
		}
		found = append(found, finding)
	}
	return found
}

// startupOf is how long a machine of a pool may take to become Ready.
func startupOf(pool *api.NodePool) time.Duration {
	if health := pool.Spec.Health; health != nil && health.StartupTimeoutSeconds != nil {
		return time.Duration(*health.StartupTimeoutSeconds) * time.Second
	}
	return startup
}

// steps are the steps in words that follow "waits for".
var steps = map[string]string{
	api.ConditionInstanceReady:     "the place to start the instance",
	api.ConditionConfigured:        "the configuration",
	api.ConditionCertificateIssued: "trustd",
	api.ConditionKubeletAuthorized: "the kubelet's certificate",
	api.ConditionNodeRegistered:    "the Node",
	api.ConditionNetworkReady:      "the pod network",
	api.ConditionServicesRunning:   "extension services",
}

// waits says what a group does, as the rest of a sentence.
func waits(g group) string {
	verb := "wait for "
	if len(g.machines) == 1 {
		verb = "waits for "
	}
	return verb + steps[g.step.Type]
}

// Progress is how far a pool is, in one line: "3 of 5 machines Ready; 2 wait for trustd: no answer at 192.0.2.1:50001".
func Progress(pool *api.NodePool, machines []api.TalosMachine) string {
	parts := []string{fmt.Sprintf("%d of %s Ready", value(pool.Status.ReadyReplicas), plural(int(value(pool.Status.DesiredReplicas)), "machine"))}
	if pool.Status.DesiredReplicas == nil {
		parts = nil // nobody has counted yet
	}
	groups := stuck(Seen{Machines: machines}.machines(pool))
	for _, group := range groups {
		part := fmt.Sprintf("%d %s", len(group.machines), waits(group))
		if group.step.Message != "" {
			part += ": " + group.step.Message
		}
		parts = append(parts, part)
	}
	ready := meta.FindStatusCondition(pool.Status.Conditions, api.ConditionReady)
	switch {
	case ready == nil:
		parts = append(parts, "not looked at yet")
	case ready.Status != metav1.ConditionTrue && len(groups) == 0:
		parts = append(parts, fmt.Sprintf("%s: %s", ready.Reason, ready.Message))
	case pool.Status.ObservedGeneration < pool.Generation:
		parts = append(parts, "the change has not been looked at yet")
	}
	return strings.Join(parts, "; ")
}

// value is a count that may not be known.
func value(count *int32) int32 {
	if count == nil {
		return 0
	}
	return *count
}

// plural is a number of things in words.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
