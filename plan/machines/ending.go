// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An Ending is what was seen of a machine that is being deleted.
type Ending struct {
	// Since is when the deletion began.
	Since time.Time
	// Drain is how long pods are given; zero waits for as long as it takes.
	Drain time.Duration
	// Patience is how long a cluster that does not answer can hold the machine.
	Patience time.Duration
	// Unanswered is why the cluster could not be asked; empty if it answered. Absent says that it never will.
	Unanswered string
	Absent     bool
	// Node says that there is one, Cordoned that it takes no pods, Silent that nothing on it can end in good order.
	Node, Cordoned, Silent bool
	// Pods are those that have to leave, Ending how many of them are on their way.
	Pods, Ending int
	// Instance is what is known of it.
	Instance InstanceEnd
}

// InstanceEnd is how far the end of an instance is.
type InstanceEnd string

// How far it can be.
const (
	// InstanceThere: it may be there.
	InstanceThere InstanceEnd = "there"
	// InstanceDead: it is there and does not run.
	InstanceDead InstanceEnd = "dead"
	// InstanceGone: the place says that there is none.
	InstanceGone InstanceEnd = "gone"
)

// An EndStep is the next step of an end.
type EndStep string

// The steps, in order.
const (
	EndCordon         EndStep = "cordon the Node"
	EndEvict          EndStep = "evict its pods"
	EndWait           EndStep = "wait for the cluster"
	EndDeleteInstance EndStep = "delete the instance"
	EndDeleteNode     EndStep = "delete the Node"
	EndRelease        EndStep = "let the object go"
)

// End decides the next step of a machine's end, and says it in words.
func End(e Ending, now time.Time) (EndStep, string) {
	passed := now.Sub(e.Since)
	switch {
	case e.isHeld(passed):
		return EndWait, fmt.Sprintf("waits up to %s for the cluster, which does not answer: %s", e.Patience, e.Unanswered)
	case e.Instance == InstanceGone && e.Node && e.Unanswered == "":
		return EndDeleteNode, "the instance is gone"
	case e.Instance == InstanceGone:
		return EndRelease, "nothing is left of it"
	case e.Instance == InstanceDead || !e.Node || e.Unanswered != "":
		return EndDeleteInstance, "no pods can leave it in good order"
	}
	return e.drain(passed)
}

// isHeld says whether the cluster is waited for: to let pods leave, or to delete the Node.
func (e Ending) isHeld(passed time.Duration) bool {
	return e.Unanswered != "" && !e.Absent && passed < e.Patience && e.Instance != InstanceDead
}

// drain decides about a Node whose pods can leave.
func (e Ending) drain(passed time.Duration) (EndStep, string) {
	switch {
	case !e.Cordoned:
		return EndCordon, "it is being deleted"
	case e.drained():
		return EndDeleteInstance, "its pods have left"
	case e.Drain > 0 && passed >= e.Drain:
		return EndDeleteInstance, fmt.Sprintf("%d pods have not left within %s", e.Pods, e.Drain)
	}
	return EndEvict, fmt.Sprintf("%d pods have yet to leave, of which %d are on their way", e.Pods, e.Ending)
}

// drained says whether no pod is waited for. On a Node that is silent, what was told to end is as good as gone.
func (e Ending) drained() bool { return e.Pods == 0 || e.Silent && e.Ending == e.Pods }

// mirror is on pods that a kubelet runs from files.
const mirror = "kubernetes.io/config.mirror"

// Leaves says whether a pod has to leave a Node before its machine goes: not one that has ended, that a DaemonSet would make again,
// or that the kubelet runs by itself.
func Leaves(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Annotations[mirror] != "" {
		return false
	}
	owner := metav1.GetControllerOf(pod)
	return owner == nil || owner.Kind != "DaemonSet"
}
