// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/machines"
)

// announce tells and counts what was just written down of a machine: that it has joined, and that it counts as failed or no longer
// does. What is written down is not announced again, whoever comes after.
func (s *scope) announce(joined bool, was, unhealthy string) {
	if joined {
		join := metrics.JoinOf(s.machine.CreationTimestamp.Time, s.machine.Status.Conditions)
		s.Metrics.Joined(s.backend(), join)
		s.event(corev1.EventTypeNormal, "Joined", fmt.Sprintf("the machine is a Ready Node, %s after it was made", join.Whole.Round(time.Second)))
	}
	switch {
	case unhealthy != "" && was == "":
		s.Metrics.Judged(s.backend(), metrics.Failed)
		s.event(corev1.EventTypeWarning, "Failed", "the machine counts as failed: "+unhealthy)
	case unhealthy == "" && was != "":
		s.event(corev1.EventTypeNormal, "Recovered", "the machine works again")
	}
}

// isNews says whether a change is one that is announced.
func isNews(before, after *api.TalosMachine) bool {
	return before.Annotations[machines.AnnotationJoined] != after.Annotations[machines.AnnotationJoined] ||
		before.Annotations[machines.AnnotationUnhealthy] != after.Annotations[machines.AnnotationUnhealthy]
}

// backend is the kind of the machine's place.
func (s *scope) backend() api.Member {
	if s.pool != nil {
		return s.pool.Spec.Machine.Member()
	}
	return s.words.Machine.Member()
}

// event tells people of the machine.
func (s *scope) event(kind, reason, message string) {
	if s.Events != nil {
		s.Events.Eventf(s.machine, nil, kind, reason, reason, "%s", message)
	}
}
