// SPDX-License-Identifier: Apache-2.0

// Package conduct is how a simulated place treats those who call it: how long it takes, how much it gives, how fast it may be
// asked, how late it shows what it did, and what it does wrong.
//
// What goes wrong follows from a seed, the call, the name of the machine and how often that was asked: not from the order in
// which calls happen to come. So a run that failed can be seen again.
package conduct

import (
	"errors"
	"fmt"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Call is something that a place can be asked.
type Call string

// The calls.
const (
	Create Call = "create"
	Get    Call = "get"
	List   Call = "list"
	Delete Call = "delete"
)

// Calls are all of them.
func Calls() []Call { return []Call{Create, Get, List, Delete} }

// A Behaviour is how a place behaves. The zero value is a place that does all at once and never fails.
type Behaviour struct {
	// Latency is how long every call takes, Jitter how much longer it may take.
	Latency metav1.Duration `json:"latency,omitzero"`
	Jitter  metav1.Duration `json:"jitter,omitzero"`
	// Start is how long an instance is made before it has power, and Stop how long it takes to be gone.
	Start metav1.Duration `json:"start,omitzero"`
	Stop  metav1.Duration `json:"stop,omitzero"`
	// Lag is how late reads show what was done.
	Lag metav1.Duration `json:"lag,omitzero"`
	// Quota is how many instances there may be. Zero means any number.
	Quota int `json:"quota,omitempty"`
	// Rate is how many calls a second are answered, Burst how many at once. Zero means any number.
	Rate  float64 `json:"rate,omitempty"`
	Burst int     `json:"burst,omitempty"`
	// Faults are what goes wrong, in the order in which they are looked at.
	Faults []Fault `json:"faults,omitempty"`
}

// A Kind is a way to go wrong.
type Kind string

// The kinds of faults.
const (
	// Refuses: the call fails before anything is done, as a place does that is overloaded.
	Refuses Kind = "refuses"
	// LosesAnswer: the call does what it should, and its answer never comes.
	LosesAnswer Kind = "losesAnswer"
	// Revokes: the credentials are no longer valid.
	Revokes Kind = "revokes"
	// Omits: a list leaves an instance out.
	Omits Kind = "omits"
	// Full: there is no room for another instance, whatever the quota says.
	Full Kind = "full"
	// FailsInstance: the call succeeds, and the instance fails while it is made.
	FailsInstance Kind = "failsInstance"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Refuses, LosesAnswer, Revokes, Omits, Full, FailsInstance} }

// affects says which calls a kind can happen to.
var affects = map[Kind][]Call{
	Refuses: Calls(), LosesAnswer: {Create, Delete}, Revokes: Calls(), Omits: {List}, Full: {Create}, FailsInstance: {Create},
}

// A Fault is something that goes wrong.
type Fault struct {
	// Kind is what.
	Kind Kind `json:"kind"`
	// Calls are those that it happens to. Empty means all that it can happen to.
	Calls []Call `json:"calls,omitempty"`
	// Machines is a pattern of the names that it happens to, as in path.Match. Empty means all.
	Machines string `json:"machines,omitempty"`
	// Share is how many of the calls it happens to, between 0 and 1. Zero means all.
	Share float64 `json:"share,omitempty"`
	// Times is how often it happens to each machine. Zero means without end.
	Times int `json:"times,omitempty"`
}

// Check says what is wrong with a behaviour, in one line that names the field.
func (b Behaviour) Check() error {
	for name, duration := range map[string]metav1.Duration{"latency": b.Latency, "jitter": b.Jitter, "start": b.Start, "stop": b.Stop, "lag": b.Lag} {
		if duration.Duration < 0 {
			return fmt.Errorf("%s: %s is less than nothing", name, duration.Duration)
		}
	}
	if b.Quota < 0 || b.Rate < 0 || b.Burst < 0 {
		return errors.New("quota, rate and burst: less than 0 makes no sense; leave it out for no limit")
	}
	for at, fault := range b.Faults {
		if err := fault.check(); err != nil {
			return fmt.Errorf("faults[%d].%w", at, err)
		}
	}
	return nil
}

// check says what is wrong with a fault.
func (f Fault) check() error {
	can, known := affects[f.Kind]
	if !known {
		return fmt.Errorf("kind: %q is not one of %v", f.Kind, Kinds())
	}
	for _, call := range f.Calls {
		if !slices.Contains(can, call) {
			return fmt.Errorf("calls: %s cannot happen to %q, only to %v", f.Kind, call, can)
		}
	}
	if _, err := path.Match(f.Machines, ""); err != nil {
		return fmt.Errorf("machines: %q is not a pattern: %w", f.Machines, err)
	}
	if f.Share < 0 || f.Share > 1 {
		return fmt.Errorf("share: %v is not between 0 and 1", f.Share)
	}
	if f.Times < 0 {
		return fmt.Errorf("times: %d is less than nothing", f.Times)
	}
	return nil
}
