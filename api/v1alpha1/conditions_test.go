// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

func TestRollup(t *testing.T) {
	rollup := api.Rollup{"First", "Second", "Third"}
	is := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	good := func(kind string) metav1.Condition { return is(kind, metav1.ConditionTrue, api.ReasonReady, "") }
	tests := map[string]struct {
		conditions []metav1.Condition
		want       metav1.Condition
	}{
		"every part is true": {
			[]metav1.Condition{good("First"), good("Second"), good("Third")},
			is(api.ConditionReady, metav1.ConditionTrue, api.ReasonReady, ""),
		},
		"one is false, and says why": {
			[]metav1.Condition{good("First"), is("Second", metav1.ConditionFalse, api.ReasonNotFound, "no cluster \"shop\""), good("Third")},
			is(api.ConditionReady, metav1.ConditionFalse, api.ReasonNotFound, "Second: no cluster \"shop\""),
		},
		"of two that are false the first in order speaks": {
			[]metav1.Condition{is("Third", metav1.ConditionFalse, "C", "c"), is("Second", metav1.ConditionFalse, "B", "b"), good("First")},
			is(api.ConditionReady, metav1.ConditionFalse, "B", "Second: b"),
		},
		"false tells more than unknown": {
			[]metav1.Condition{is("First", metav1.ConditionUnknown, api.ReasonUnreadable, "?"), is("Third", metav1.ConditionFalse, "C", "c"), good("Second")},
			is(api.ConditionReady, metav1.ConditionFalse, "C", "Third: c"),
		},
		"what was not looked at is unknown": {
			[]metav1.Condition{good("First"), good("Third")},
			is(api.ConditionReady, metav1.ConditionUnknown, api.ReasonNotYetKnown, "Second: not looked at yet"),
		},
		"what is not a part does not matter": {
			[]metav1.Condition{good("First"), good("Second"), good("Third"), is("UpToDate", metav1.ConditionFalse, "X", "x")},
			is(api.ConditionReady, metav1.ConditionTrue, api.ReasonReady, ""),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.ObservedGeneration = 7
			if diff := cmp.Diff(test.want, rollup.Ready(test.conditions, 7)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
