// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"fmt"
	"time"
)

// A Reason is what a failure means to whoever must decide what to do next.
type Reason string

// The reasons, and what follows from each.
const (
	// Gone: the place says that there is no such instance. Nothing else means that.
	Gone Reason = "Gone"
	// Taken: another owner has the name. Choose another.
	Taken Reason = "Taken"
	// NoRoom: a quota is used up, or the place has nothing left. Nothing was made; try later, or elsewhere.
	NoRoom Reason = "NoRoom"
	// TooFast: the place wants fewer calls. Nothing was done; try again after the time it gives.
	TooFast Reason = "TooFast"
	// Denied: the credentials are not valid, or may not do this. A person must act; nothing is known of instances.
	Denied Reason = "Denied"
	// Invalid: the place will never do this. The declaration must change.
	Invalid Reason = "Invalid"
	// Unavailable: the place cannot now. Nothing was done; try again.
	Unavailable Reason = "Unavailable"
	// Unsure: no answer came. It may have been done: ask again, with the same words.
	Unsure Reason = "Unsure"
)

// An Error is how a call failed.
type Error struct {
	Reason Reason
	// Message is what the place said, in one line and without secrets.
	Message string
	// After is how long to wait, if the place said so.
	After time.Duration
	// Cause is the error behind it, if there is one.
	Cause error
}

// Fail returns an error with a reason.
func Fail(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error is what the place said.
func (e *Error) Error() string { return e.Message }

// Unwrap is the error behind it.
func (e *Error) Unwrap() error { return e.Cause }

// ReasonOf is what an error means. An error that says nothing means that nothing is known: so does a context that ended.
func ReasonOf(err error) Reason {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Reason
	}
	return Unsure
}

// After is how long to wait before the next try, as far as the place said.
func After(err error) time.Duration {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.After
	}
	return 0
}
