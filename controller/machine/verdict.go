// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"time"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
)

// again is how soon a call is tried again that failed, where the place does not say.
const again = 5 * time.Second

// A verdict is what a failed call means.
type verdict struct {
	// reason is that of the condition.
	reason string
	// lost says that the machine will never be.
	lost bool
	// after is when to try again; zero if the place says it, or nobody knows better.
	after time.Duration
}

// verdicts are what reasons mean. What is not in it is worked on and tried again.
var verdicts = map[backend.Reason]verdict{
	backend.Taken:       {reason: api.ReasonFailed, lost: true},
	backend.NoRoom:      {reason: api.ReasonNoCapacity, after: 15 * time.Second},
	backend.Denied:      {reason: api.ReasonDenied, after: 30 * time.Second},
	backend.Invalid:     {reason: api.ReasonInvalid, after: time.Minute},
	backend.TooFast:     {reason: api.ReasonProgressing},
	backend.Unavailable: {reason: api.ReasonProgressing},
	backend.Unsure:      {reason: api.ReasonProgressing, after: time.Second},
}

// judge says what a failed call means for the machine, and when to try again.
func judge(err error) (machines.Instance, time.Duration) {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return machines.Instance{Reason: refusal.Reason, Message: refusal.Message}, again
	}
	meaning, known := verdicts[backend.ReasonOf(err)]
	if !known {
		meaning = verdict{reason: api.ReasonProgressing}
	}
	after := max(backend.After(err), meaning.after)
	if after == 0 {
		after = again
	}
	if meaning.lost {
		return machines.Instance{Lost: err.Error()}, after
	}
	return machines.Instance{Reason: meaning.reason, Message: err.Error()}, after
}
