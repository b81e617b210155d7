// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// True is a condition that holds. The time of the transition is left to whoever writes the status.
func True(kind, format string, args ...any) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: api.ReasonReady, Message: fmt.Sprintf(format, args...)}
}

// A Refusal is why a condition does not hold.
type Refusal struct {
	// Reason is one of the reasons of the API.
	Reason string
	// Message names the object, the value and the remedy.
	Message string
}

// Refuse says why a condition does not hold.
func Refuse(reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Condition is a refusal as a condition.
func (r *Refusal) Condition(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: r.Reason, Message: r.Message}
}

// longest is how long a message may be, as the API server has it.
const longest = 32768

// Conditions finishes the conditions of a pool: those that are known now, with the generation that they speak of, and their
// roll-up over them and over those of before that nothing new is known of.
func Conditions(before, now []metav1.Condition, generation int64) []metav1.Condition {
	var whole []metav1.Condition
	known := map[string]bool{}
	for _, condition := range now {
		condition.ObservedGeneration = generation
		condition.Message = strings.ToValidUTF8(condition.Message[:min(len(condition.Message), longest)], "")
		known[condition.Type] = true
		whole = append(whole, condition)
	}
	all := whole
	for _, condition := range before {
		if !known[condition.Type] && condition.Type != api.ConditionReady {
			all = append(all, condition)
		}
	}
	return append(whole, api.NodePoolReady.Ready(all, generation))
}
