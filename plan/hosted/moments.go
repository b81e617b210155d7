// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// A Moment is something that happens to a cluster and that people are told of, once.
type Moment struct {
	// Warning says that somebody may have to do something.
	Warning bool
	// Reason names it in a word, Message says it in a line.
	Reason, Message string
}

// Reasons of moments that no table has.
const (
	MomentDeleting        = "Deleting"
	MomentTenantReachable = "TenantReachable"
	MomentUpgraded        = "Upgraded"
)

// told are the conditions of a cluster that people are told of: the reason of the moment when one comes to hold, and when it stops.
var told = map[string]struct{ yes, no string }{
	api.ConditionSecretsReady:      {"SecretsReady", "SecretsNotReady"},
	api.ConditionControlPlaneReady: {"ControlPlaneReady", "ControlPlaneNotReady"},
	api.ConditionTrustReady:        {"SignerReady", "SignerNotReady"},
	api.ConditionTenantReady:       {"TenantReady", "TenantNotReady"},
}

// unreachable is the reason of the moment when a tenant's API server does not answer.
const unreachable = "TenantUnreachable"

// Moments are what happened to a cluster between two states of it. The same state has none.
func Moments(before, after api.TalosClusterStatus) []Moment {
	var found []Moment
	for _, now := range after.Conditions {
		was := metav1.Condition{Status: metav1.ConditionUnknown}
		if seen := meta.FindStatusCondition(before.Conditions, now.Type); seen != nil {
			was = *seen
		}
		if moment := momentOf(was, now); moment != nil {
			found = append(found, *moment)
		}
	}
	if was, is := before.KubernetesVersion, after.KubernetesVersion; was != "" && is != "" && was != is {
		found = append(found, Moment{Reason: MomentUpgraded, Message: fmt.Sprintf("the control plane runs %s, and ran %s before", is, was)})
	}
	return found
}

// momentOf is what the change of a condition means, or nil.
func momentOf(was, now metav1.Condition) *Moment {
	words, isTold := told[now.Type]
	if !isTold {
		return nil
	}
	if now.Reason == api.ReasonDeleting {
		if was.Reason == now.Reason && was.Message == now.Message {
			return nil
		}
		return &Moment{Warning: strings.Contains(now.Message, stuck), Reason: MomentDeleting, Message: now.Message}
	}
	switch {
	case was.Status == now.Status && was.Reason == now.Reason:
		return nil
	case now.Status == metav1.ConditionTrue:
		return came(was, now, words.yes)
	}
	return went(now, words.no)
}

// went is what it means that a condition does not hold, or nil.
func went(now metav1.Condition, reason string) *Moment {
	switch {
	case now.Reason == api.ReasonProgressing || now.Reason == api.ReasonNotYetKnown:
		return nil // it needs nobody
	case now.Reason == api.ReasonWaiting && now.Type != api.ConditionControlPlaneReady:
		return nil // what it waits for is told of itself
	case now.Type == api.ConditionTenantReady && now.Reason == api.ReasonUnreadable:
		return &Moment{Warning: true, Reason: unreachable, Message: now.Message}
	}
	return &Moment{Warning: now.Reason != api.ReasonWaiting, Reason: reason, Message: now.Message}
}

// came is what it means that a condition has come to hold, or nil.
func came(was, now metav1.Condition, reason string) *Moment {
	switch {
	case now.Type == api.ConditionSecretsReady && was.Reason == "":
		return nil // that the cluster was born is told of when it is
	case now.Type == api.ConditionTenantReady && was.Reason == api.ReasonUnreadable:
		reason = MomentTenantReachable
	}
	return &Moment{Reason: reason, Message: now.Message}
}
