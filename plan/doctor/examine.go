// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// An examination looks at what was seen, at one time.
type examination struct {
	seen Seen
	now  time.Time
}

// A patient is one object with a status.
type patient struct {
	kind       string
	object     metav1.ObjectMeta
	observed   int64
	conditions []metav1.Condition
	situation  situation
}

// location examines a place. One that nobody has looked at keeps no pool waiting by that: pools say themselves what they miss.
func (e examination) location(kind string, object metav1.ObjectMeta, status api.LocationStatus) []Finding {
	if len(status.Conditions) == 0 && object.DeletionTimestamp.IsZero() {
		return nil
	}
	p := patient{kind, object, status.ObservedGeneration, status.Conditions, situation{
		namespace: object.Namespace, location: api.LocationReference{Kind: api.LocationKind(kind), Name: api.Name(object.Name)},
	}}
	return e.examine(p, api.LocationReady)
}

// cluster examines a cluster. That its pools are not ready is theirs to say.
func (e examination) cluster(cluster *api.TalosCluster) []Finding {
	p := patient{"TalosCluster", cluster.ObjectMeta, cluster.Status.ObservedGeneration, cluster.Status.Conditions, situation{}}
	p.situation.ofCluster(cluster)
	return e.examine(p, api.TalosClusterReady)
}

// pool examines a pool and its machines: where machines say what is missing, that the pool has too few adds nothing.
func (e examination) pool(pool *api.NodePool) []Finding {
	status := pool.Status
	p := patient{"NodePool", pool.ObjectMeta, status.ObservedGeneration, status.Conditions, e.situationOf(pool)}
	steps := keep(status.Conditions, func(c *metav1.Condition) bool { return slices.Contains(api.TalosMachineReady, c.Type) })
	machines := e.machines(pool)
	rollup := slices.Clone(api.NodePoolReady)
	if len(steps) > 0 { // of machines that Cluster API makes, the pool itself tells the steps
		rollup = slices.Insert(rollup, len(rollup)-1, keep(api.TalosMachineReady, func(step *string) bool {
			return meta.FindStatusCondition(steps, *step) != nil
		})...)
	}
	found := e.examine(p, rollup)
	found = append(found, machines...)
	if len(found) > 1 {
		found = slices.DeleteFunc(found, follows)
	}
	if len(found) == 0 {
		found = e.rolling(p)
	}
	return found
}

// follows says whether a finding says no more than that machines are missing, for which others give the cause.
func follows(f Finding) bool {
	switch f.Reason {
	case api.ReasonNoCapacity, api.ReasonDenied, api.ReasonInvalid, api.ReasonUnreadable:
		return false
	}
	return f.Step == api.ConditionMachinesReady
}

// examine looks at one object: whether anybody has looked at it, whether it goes, and which of its conditions are not true.
func (e examination) examine(p patient, rollup api.Rollup) []Finding {
	if !p.object.DeletionTimestamp.IsZero() {
		return []Finding{e.deleting(p)}
	}
	if len(p.conditions) == 0 {
		return []Finding{e.unseen(p)}
	}
	var found []Finding
	for _, condition := range missing(p.conditions, rollup) {
		found = append(found, e.finding(p, condition))
	}
	if len(found) == 0 && p.observed < p.object.Generation {
		found = append(found, p.about(Waiting, metav1.Condition{
			Type: api.ConditionReady, Reason: api.ReasonNotYetKnown,
			Message: "the newest change of the spec has not been looked at yet",
		}, []string{operatorLogs}))
	}
	return found
}

// missing returns the conditions that keep an object from being Ready: all that are False, or else the first that is not True.
func missing(conditions []metav1.Condition, rollup api.Rollup) []metav1.Condition {
	var wrong []metav1.Condition
	var unknown *metav1.Condition
	for _, part := range rollup {
		seen := meta.FindStatusCondition(conditions, part)
		switch {
		case seen == nil:
			seen = &metav1.Condition{Type: part, Status: metav1.ConditionUnknown, Reason: api.ReasonNotYetKnown, Message: "not looked at yet"}
			unknown = cmp.Or(unknown, seen)
		case seen.Status == metav1.ConditionFalse:
			wrong = append(wrong, *seen)
		case seen.Status == metav1.ConditionUnknown:
			unknown = cmp.Or(unknown, seen)
		}
	}
	if len(wrong) == 0 && unknown != nil {
		wrong = append(wrong, *unknown)
	}
	return wrong
}

// finding is what there is to say about a condition that is not true.
func (e examination) finding(p patient, condition metav1.Condition) Finding {
	cause, look := advise(p.situation, condition)
	condition.Message = cause
	return p.about(e.severity(condition, patience), condition, look)
}

// severity says whether somebody has to act: at once for what does not go on by itself, and later for what takes too long.
func (e examination) severity(condition metav1.Condition, limit time.Duration) Severity {
	switch condition.Reason {
	case api.ReasonInvalid, api.ReasonDenied, api.ReasonNotFound, api.ReasonFailed, api.ReasonNoCapacity, api.ReasonUnreadable:
		return Problem
	}
	if since := condition.LastTransitionTime; !since.IsZero() && e.now.Sub(since.Time) > limit {
		return Problem
	}
	return Waiting
}

// unseen is about an object without a status: new, or nobody looks at it.
func (e examination) unseen(p patient) Finding {
	severity, cause := Waiting, "it is new, and has not been looked at yet"
	if e.now.Sub(p.object.CreationTimestamp.Time) > firstLook {
		severity, cause = Problem, "nobody has ever looked at it: the operator does not run, or may not read it"
	}
	return p.about(severity, metav1.Condition{
		Type: api.ConditionReady, Reason: api.ReasonNotYetKnown, Message: cause, LastTransitionTime: p.object.CreationTimestamp,
	}, []string{operatorPods, operatorLogs})
}

// deleting is about an object that goes.
func (e examination) deleting(p patient) Finding {
	severity := Waiting
	if e.now.Sub(p.object.DeletionTimestamp.Time) > removalPatience {
		severity = Problem
	}
	cause := "it is being deleted"
	if ready := meta.FindStatusCondition(p.conditions, api.ConditionReady); ready != nil && ready.Reason == api.ReasonDeleting && ready.Message != "" {
		cause += ": " + ready.Message
	}
	if len(p.object.Finalizers) > 0 {
		cause += fmt.Sprintf("; held by %s", strings.Join(p.object.Finalizers, ", "))
	}
	return p.about(severity, metav1.Condition{
		Type: api.ReasonDeleting, Reason: api.ReasonDeleting, Message: cause, LastTransitionTime: *p.object.DeletionTimestamp,
	}, lookDeleting(p))
}

// rolling notes that a Ready pool is not of the newest revision yet.
func (e examination) rolling(p patient) []Finding {
	condition := meta.FindStatusCondition(p.conditions, api.ConditionUpToDate)
	if condition == nil || condition.Status == metav1.ConditionTrue {
		return nil
	}
	return []Finding{p.about(Note, *condition, []string{fmt.Sprintf("minos pool describe %s -n %s", p.object.Name, p.object.Namespace)})}
}

// about makes a finding of a condition.
func (p patient) about(severity Severity, condition metav1.Condition, look []string) Finding {
	found := Finding{
		Severity: severity, Kind: p.kind, Namespace: p.object.Namespace, Name: p.object.Name,
		Step: condition.Type, Reason: condition.Reason, Cause: condition.Message, Look: look,
	}
	if since := condition.LastTransitionTime; !since.IsZero() {
		found.Since = &since
	}
	return found
}
