// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// AnnotationRefused is on a TalosMachine: the revision that Talos would not take while it runs, and why, in its words.
const AnnotationRefused = "minos.dev/refused"

// Refuses is AnnotationRefused for a revision.
func Refuses(revision, words string) string { return revision + ": " + words }

// Refused says why Talos does not take the revision that a machine should have; empty if nothing says so. What it said of another
// revision means nothing any more.
func Refused(object *api.TalosMachine) string {
	revision, words, _ := strings.Cut(object.Annotations[AnnotationRefused], ": ")
	if revision != string(object.Spec.Revision) {
		return ""
	}
	return words
}

// Revised says whether a machine has the revision that it should have, once there was a doubt.
func Revised(object *api.TalosMachine) metav1.Condition {
	condition := metav1.Condition{Type: api.ConditionUpToDate, Status: metav1.ConditionTrue, Reason: api.ReasonReady}
	condition.Message = fmt.Sprintf("Talos has taken revision %s", object.Spec.Revision)
	if words := Refused(object); words != "" {
		condition.Status, condition.Reason = metav1.ConditionFalse, api.ReasonFailed
		condition.Message = fmt.Sprintf("Talos does not take revision %s while it runs: %s; the machine is replaced within the limits of rollout", object.Spec.Revision, words)
	}
	return condition
}

// isNewest says whether a machine is what is wanted, or can become it while it runs.
func (d *decision) isNewest(m Machine) bool { return m.Revision == d.Revision && m.Refused == "" }

// outdated is why a machine is replaced.
func (d *decision) outdated(m Machine) string {
	if m.Refused != "" {
		return "Talos does not take the newest configuration while it runs: " + m.Refused
	}
	return fmt.Sprintf("it is of revision %s and the newest is %s", m.Revision, d.Revision)
}
