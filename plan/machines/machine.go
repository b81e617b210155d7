// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// A Machine is one of a pool, as far as it decides what happens to the pool.
type Machine struct {
	Name     string
	Revision string
	Created  time.Time
	// Made is when the place made its instance; zero if it has not.
	Made time.Time
	// Deleting says that it is on its way out, Kept that it failed and stays for study, First that somebody wants it to be the
	// one that goes when one is too many.
	Deleting, Kept, First bool
	// Available says that it does its work, Joined that it ever did.
	Available, Joined bool
	// Node is what its Node says, and Since since when.
	Node  NodeState
	Since time.Time
	// Failed is why it will never work again; empty if nothing is known that says so.
	Failed string
	// Step is what it waits for, in words.
	Step string
	// Refused is why Talos does not take the newest configuration while it runs; empty if nothing is known that says so.
	Refused string
}

// A NodeState is what a Node says of itself.
type NodeState string

// What a Node can say.
const (
	NodeUnseen   NodeState = ""
	NodeReady    NodeState = "ready"
	NodeNotReady NodeState = "not ready"
	NodeSilent   NodeState = "silent"
)

// See reads a machine off its object.
func See(object *api.TalosMachine) Machine {
	m := Machine{
		Name: object.Name, Revision: string(object.Spec.Revision), Created: object.CreationTimestamp.Time, Made: moment(object, AnnotationMade),
		Deleting: !object.DeletionTimestamp.IsZero(), Joined: !moment(object, AnnotationJoined).IsZero(),
	}
	_, m.First = object.Annotations[AnnotationDeleteFirst]
	_, m.Kept = object.Annotations[AnnotationKept]
	m.Refused = Refused(object)
	conditions := object.Status.Conditions
	m.Available = isAvailable(conditions)
	m.Joined = m.Joined || m.Available
	m.Node, m.Since = nodeState(conditions)
	if instance := meta.FindStatusCondition(conditions, api.ConditionInstanceReady); instance != nil && instance.Reason == api.ReasonFailed {
		m.Failed = instance.Message
	}
	if ready := api.TalosMachineReady.Ready(conditions, 0); ready.Status != metav1.ConditionTrue {
		m.Step = ready.Message
	}
	return m
}

// moment reads a time off an annotation. What cannot be read was not written by us.
func moment(object metav1.Object, annotation string) time.Time {
	at, err := time.Parse(time.RFC3339, object.GetAnnotations()[annotation])
	if err != nil {
		return time.Time{}
	}
	return at
}

// isAvailable says whether a machine does its work. What only its Talos API could tell may be unknown: an API that cannot be
// reached from here is no reason to replace a machine that works. Where that has to be seen first, the step says no.
func isAvailable(conditions []metav1.Condition) bool {
	for _, step := range api.TalosMachineReady {
		condition := meta.FindStatusCondition(conditions, step)
		if condition != nil && condition.Status == metav1.ConditionFalse {
			return false
		}
	}
	return meta.IsStatusConditionTrue(conditions, api.ConditionInstanceReady) &&
		meta.IsStatusConditionTrue(conditions, api.ConditionNodeRegistered) && meta.IsStatusConditionTrue(conditions, api.ConditionNetworkReady)
}

// nodeState reads off the steps what the Node says.
func nodeState(conditions []metav1.Condition) (NodeState, time.Time) {
	if registered := meta.FindStatusCondition(conditions, api.ConditionNodeRegistered); registered == nil || registered.Status != metav1.ConditionTrue {
		if registered != nil && registered.Reason == api.ReasonNotFound {
			return NodeSilent, registered.LastTransitionTime.Time // there was one, and it is gone
		}
		return NodeUnseen, time.Time{}
	}
	network := meta.FindStatusCondition(conditions, api.ConditionNetworkReady)
	if network == nil {
		return NodeUnseen, time.Time{}
	}
	switch network.Status {
	case metav1.ConditionTrue:
		return NodeReady, network.LastTransitionTime.Time
	case metav1.ConditionFalse:
		return NodeNotReady, network.LastTransitionTime.Time
	}
	return NodeSilent, network.LastTransitionTime.Time
}

// Unhealthy says why a machine counts as failed, or nothing. A pool that is gone replaces nothing.
func Unhealthy(pool *api.NodePool, m Machine, now time.Time) string {
	if pool == nil || m.Deleting {
		return ""
	}
	why, _ := PolicyOf(pool, Limits{}).trouble(m, now)
	return why
}

// trouble says why a machine counts as failed, or nothing; and when it will if nothing changes, zero if never. The time to join
// begins when the place has made the instance: a machine that the place has no room for has not failed.
func (p Policy) trouble(m Machine, now time.Time) (string, time.Time) {
	if m.Failed != "" {
		return m.Failed, time.Time{}
	}
	var since time.Time
	var limit time.Duration
	var words string
	switch {
	case m.Available:
		return "", time.Time{}
	case !m.Joined:
		since, limit, words = m.Made, p.Startup, fmt.Sprintf("it has not become ready within %s: %s", p.Startup, m.Step)
	case m.Node == NodeNotReady:
		since, limit, words = m.Since, p.NotReady, fmt.Sprintf("its Node has not been ready for %s", p.NotReady)
	case m.Node == NodeSilent:
		since, limit, words = m.Since, p.Silent, fmt.Sprintf("its Node has been silent for %s", p.Silent)
	}
	if since.IsZero() {
		return "", time.Time{}
	}
	if end := since.Add(limit); now.Before(end) {
		return "", end
	}
	return words, time.Time{}
}
