// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
)

// A Join is how long a machine took to join, in all and step by step.
type Join struct {
	Whole time.Duration
	Steps []Step
}

// A Step is one of them. Its name is that of the condition that it brings about.
type Step struct {
	Name string
	Took time.Duration
}

// reached is when a step was taken.
type reached struct {
	name string
	at   time.Time
}

// joinOf adds up a join from when its steps were taken, in their order. A step that was seen before the one ahead of it took no
// time of its own.
func joinOf(begin time.Time, steps []reached) Join {
	var join Join
	last := begin
	for _, step := range steps {
		took := max(0, step.at.Sub(last))
		join.Steps = append(join.Steps, Step{step.name, took})
		last = last.Add(took)
	}
	join.Whole = last.Sub(begin)
	return join
}

// JoinOf is the join of a machine of ours, from its conditions. A step that nobody could see is left out.
func JoinOf(created time.Time, conditions []metav1.Condition) Join {
	var steps []reached
	for _, name := range api.TalosMachineReady {
		if seen := meta.FindStatusCondition(conditions, name); seen != nil && seen.Status == metav1.ConditionTrue {
			steps = append(steps, reached{name, seen.LastTransitionTime.Time})
		}
	}
	return joinOf(created, steps)
}

// VirtualJoin is the join of a Machine of Cluster API, as far as that tells: when the virtual machine was there, when its Node was,
// and when that was ready. Registered is when its Node was; zero if the machine has not joined.
func VirtualJoin(machine *unstructured.Unstructured) (join Join, registered time.Time) {
	var read struct {
		Status struct {
			Phase       string             `json:"phase"`
			LastUpdated metav1.Time        `json:"lastUpdated"`
			Conditions  []metav1.Condition `json:"conditions"`
			NodeRef     struct {
				Name string `json:"name"`
			} `json:"nodeRef"`
		} `json:"status"`
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(machine.Object, &read) != nil {
		return Join{}, time.Time{}
	}
	status := read.Status
	instance, ready := meta.FindStatusCondition(status.Conditions, "InfrastructureReady"), meta.FindStatusCondition(status.Conditions, "NodeReady")
	// The phase changes to Running with the reference to the Node, and its time is not touched when the Node is not ready for a while.
	if status.Phase != "Running" || status.NodeRef.Name == "" || !isTrue(instance) || !isTrue(ready) {
		return Join{}, time.Time{}
	}
	return joinOf(machine.GetCreationTimestamp().Time, []reached{
		{api.ConditionInstanceReady, instance.LastTransitionTime.Time},
		{api.ConditionNodeRegistered, status.LastUpdated.Time},
		{api.ConditionNetworkReady, ready.LastTransitionTime.Time},
	}), status.LastUpdated.Time
}

// isTrue says whether a condition is there and holds.
func isTrue(condition *metav1.Condition) bool {
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// Virtual counts the machines of a pool that have joined since Cluster API's machines were first looked at here, each once. A Node
// that was registered before that was seen by whoever worked then; one that was not ready for a while has not joined again.
func (m *Metrics) Virtual(key types.NamespacedName, machines []unstructured.Unstructured) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.since.IsZero() {
		m.since = m.now()
	}
	before, counted := m.counted[key], map[types.UID]bool{}
	for at := range machines {
		id := machines[at].GetUID()
		join, registered := VirtualJoin(&machines[at])
		isNew := !registered.IsZero() && !registered.Before(m.since) && !before[id]
		if isNew {
			m.Joined(api.MemberKubeVirt, join)
		}
		if isNew || before[id] {
			counted[id] = true
		}
	}
	// Only those that are there: what is gone does not come back under its identity.
	m.counted[key] = counted
}

// A Rollout is what happened to a roll-out between two looks at a pool.
type Rollout struct {
	Begun, Finished bool
	// Took is how long one took that is finished.
	Took time.Duration
}

// RolloutOf says what happened to a pool's roll-out, from its conditions before and after a look. A pool that is looked at for the
// first time has none.
func RolloutOf(before, after []metav1.Condition) Rollout {
	was, is := meta.FindStatusCondition(before, api.ConditionUpToDate), meta.FindStatusCondition(after, api.ConditionUpToDate)
	switch {
	case was == nil || is == nil || was.Status == is.Status:
		return Rollout{}
	case is.Status == metav1.ConditionTrue:
		return Rollout{Finished: true, Took: max(0, is.LastTransitionTime.Sub(was.LastTransitionTime.Time))}
	}
	return Rollout{Begun: was.Status == metav1.ConditionTrue}
}

// States of machines and pools beside the steps of a join.
const (
	StateReady    = "Ready"
	StateFailed   = "Failed"
	StateLeaving  = "Leaving"
	StateRolling  = "Rolling"
	StateNotReady = "NotReady"
	StateHeld     = "Held"
	StateDeleting = "Deleting"
)

// waits are the states behind the words of plan/virtual for what machines wait for. A test holds the two to each other.
var waits = map[string]string{
	"its end": StateLeaving, "its replacement": StateFailed, "its configuration": api.ConditionConfigured,
	"its virtual machine": api.ConditionInstanceReady, "its Node": api.ConditionNodeRegistered,
}

// StateOf is the state of a machine, or nothing for what is no machine.
func StateOf(machine pool.Machine) string {
	known, isKnown := waits[machine.Waits]
	switch {
	case machine.Name == "":
		return ""
	case machine.Ready:
		return StateReady
	case known == StateLeaving:
		return StateLeaving
	case machine.Failed:
		return StateFailed
	case isKnown:
		return known
	}
	return machine.Waits // which is the step itself, for machines of ours
}

// PoolOf is what is so of a pool, from its status and from what was seen of its machines; nil if they could not be looked at.
func PoolOf(of *api.NodePool, seen *pool.Seen) Pool {
	found := Pool{Backend: of.Spec.Machine.Member(), State: StateNotReady}
	if meta.IsStatusConditionTrue(of.Status.Conditions, api.ConditionReady) {
		found.State = StateReady
		if meta.IsStatusConditionFalse(of.Status.Conditions, api.ConditionUpToDate) {
			found.State = StateRolling
		}
	}
	if seen != nil {
		found.Machines = map[string]int{}
		for _, machine := range seen.Machines {
			state := StateOf(machine)
			if state == "" {
				found.State = StateHeld // what is said of no machine in particular is why none is replaced
				continue
			}
			found.Machines[state]++
		}
	}
	if !of.DeletionTimestamp.IsZero() {
		found.State = StateDeleting
	}
	return found
}
