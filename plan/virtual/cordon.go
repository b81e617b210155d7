// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// When a host is emptied, the provider for KubeVirt cordons the Node of a machine on it, drains it, and has the machine start
// elsewhere. Releases up to v0.11.2 leave the Node cordoned. What tells such a cordon from a person's is what is known here.
const (
	// AnnotationGrace is on a KubevirtMachine while the provider drains its Node: until when it waits for pods to leave.
	AnnotationGrace = "capk.cluster.x-k8s.io/vmi-deletion-grace-time"
	// annotationCordoned is on one whose Node the provider will uncordon itself, as later releases do.
	annotationCordoned = "capk.cluster.x-k8s.io/node-cordoned"
	// AnnotationDrained is our own, on a Machine: since when its Node was drained, as RFC 3339, and in which boot.
	AnnotationDrained = "minos.dev/drained"
	// graceTime is how long the provider waits.
	graceTime = 10 * time.Minute
	// provider is what the API server calls the provider's program.
	provider = "manager"
)

// A Drain is a Node that is drained because the host of its machine is emptied, or was.
type Drain struct {
	// Machine is the machine, and Node its Node.
	Machine, Node string
	// Since is when the drain began, Boot in which boot of the machine.
	Since time.Time
	Boot  string
	// New says that it has not been written down yet, Over that the provider has ended the machine and starts it elsewhere.
	New, Over bool
	// Theirs says that the provider uncordons the Node itself.
	Theirs bool
}

// Drains are those of the pool's machines. A drain can be shorter than a look: noticed is what was seen of AnnotationGrace
// meanwhile, by KubevirtMachine.
func (l Live) Drains(noticed map[string]string) []Drain {
	var all []Drain
	virtual := l.virtual()
	for at := range l.Machines {
		machine := &l.Machines[at]
		own := virtual[text(machine, "spec", "infrastructureRef", "name")]
		if own == nil || !machine.GetDeletionTimestamp().IsZero() {
			continue
		}
		if drain, found := drainOf(machine, own, noticed[own.GetName()]); found {
			all = append(all, drain)
		}
	}
	return all
}

// drainOf is the drain of one machine.
func drainOf(machine, own *unstructured.Unstructured, noticed string) (Drain, bool) {
	drain := Drain{Machine: machine.GetName(), Node: own.GetName()}
	since, boot, _ := strings.Cut(machine.GetAnnotations()[AnnotationDrained], " ")
	drain.Since, _ = time.Parse(time.RFC3339, since)
	drain.Boot = boot
	grace, draining := own.GetAnnotations()[AnnotationGrace]
	_, drain.Theirs = own.GetAnnotations()[annotationCordoned]
	drain.Over = !draining
	for _, seen := range []string{grace, noticed} {
		if until, err := time.Parse(time.RFC3339, seen); err == nil && until.Add(-graceTime).After(drain.Since) {
			drain.Since, drain.Boot, drain.New = until.Add(-graceTime), "", true
		}
	}
	// What was noticed may be ahead of what was read: then the drain was written down as one that is over, without its boot.
	drain.New = drain.New || draining && drain.Boot == ""
	return drain, !drain.Since.IsZero()
}

// Mark is a drain as it is written down. The boot of one that is over is not known any more: it may be the next one already.
func (d Drain) Mark(node *corev1.Node) string {
	since := d.Since.UTC().Format(time.RFC3339)
	if d.Over {
		return since
	}
	return since + " " + node.Status.NodeInfo.BootID
}

// A Cordon is what to do about a Node after a drain.
type Cordon int

// What can be done about it.
const (
	// Wait looks again later.
	Wait Cordon = iota
	// Forget has nothing to do any more.
	Forget
	// Undo uncordons the Node.
	Undo
	// Leave leaves it to a person.
	Leave
)

// After says what to do about the Node, and why if that is to leave it.
func (d Drain) After(node *corev1.Node) (Cordon, string) {
	switch {
	case !node.Spec.Unschedulable && d.Over, d.Theirs:
		return Forget, ""
	case !d.Over || !d.restarted(node):
		return Wait, ""
	}
	by, at := cordonedBy(node)
	if by == provider && !at.Before(d.Since) {
		return Undo, ""
	}
	if by == "" {
		by = "somebody unknown"
	}
	return Leave, fmt.Sprintf("Node %s works again after its host was emptied, and stays cordoned, because %s cordoned it: run kubectl uncordon %s when it may have pods", node.Name, by, node.Name)
}

// restarted says whether the machine works, and is not the one any more that was drained.
func (d Drain) restarted(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			another := node.Status.NodeInfo.BootID != d.Boot
			if d.Boot == "" {
				another = !condition.LastTransitionTime.Time.Before(d.Since) // both are whole seconds, and a restart can be quicker
			}
			return condition.Status == corev1.ConditionTrue && another
		}
	}
	return false
}

// cordonedBy is the program that cordoned a Node, as far as the API server knows, and when it wrote last. One that finds a Node
// cordoned writes nothing: so whoever was first is told of.
func cordonedBy(node *corev1.Node) (string, time.Time) {
	for _, entry := range node.ManagedFields {
		var set struct {
			Spec map[string]any `json:"f:spec"`
		}
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set) != nil {
			continue
		}
		if _, owns := set.Spec["f:unschedulable"]; owns && entry.Time != nil {
			return entry.Manager, entry.Time.Time
		}
	}
	return "", time.Time{}
}
