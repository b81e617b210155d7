// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"slices"
	"sync"
	"time"
)

// A Step is one of those that a machine takes until it is of use.
type Step string

// The steps, in the order in which they are told. A machine asks trustd and starts its kubelet at the same time, as Talos
// does, so that one of them can be reached while an earlier one is not.
const (
	// StepConfig is reached when the configuration was read and found valid.
	StepConfig Step = "config"
	// StepTrustd is reached when the machine has a certificate for its API.
	StepTrustd Step = "trustd"
	// StepKubelet is reached when the kubelet has a client certificate.
	StepKubelet Step = "kubelet"
	// StepNode is reached when the Node is registered, with labels and annotations of Talos.
	StepNode Step = "node"
	// StepCNI is reached when there is a pod network, and the Node is Ready.
	StepCNI Step = "cni"
	// StepServices is reached when no service keeps the boot from ending.
	StepServices Step = "services"
	// StepReady is reached when all others are: the machine's stage is then "running".
	StepReady Step = "ready"
)

// Steps returns all steps in order.
func Steps() []Step {
	return []Step{StepConfig, StepTrustd, StepKubelet, StepNode, StepCNI, StepServices, StepReady}
}

// A Progress is how far a machine got with one step.
type Progress struct {
	Step Step
	// Reached is when; zero if it was not.
	Reached time.Time
	// Reason says in words what it waits for; empty if nothing is known to be wrong.
	Reason string
}

// A Status is what a machine is doing.
type Status struct {
	Machine string
	// Stage is the word of Talos's machine status: maintenance, installing, booting, running, upgrading, rebooting, resetting,
	// shutting down; "off" when there is no power.
	Stage string
	// Steps are those of this boot.
	Steps []Progress
	// Boots counts how often the power came or the machine rebooted.
	Boots int
	// Image is what runs.
	Image Image
	// Node is the name under which it registers.
	Node string
	// API is where its Talos API listens; empty if it does not.
	API string
}

// Reached says whether a step was.
func (s Status) Reached(step Step) bool {
	at := slices.IndexFunc(s.Steps, func(p Progress) bool { return p.Step == step })
	return at >= 0 && !s.Steps[at].Reached.IsZero()
}

// Stopped returns the first step that was not reached and has a reason, or else the first that was not reached. The second
// result is false when all were.
func (s Status) Stopped() (Progress, bool) {
	var open []Progress
	for _, progress := range s.Steps {
		if progress.Reached.IsZero() {
			open = append(open, progress)
		}
	}
	if at := slices.IndexFunc(open, func(p Progress) bool { return p.Reason != "" }); at >= 0 {
		return open[at], true
	}
	if len(open) > 0 {
		return open[0], true
	}
	return Progress{}, false
}

// An Event is something that happened to a machine.
type Event struct {
	Time    time.Time
	Machine string
	// Step is the one that it belongs to; empty when it belongs to none.
	Step Step
	// Reached says that the step was reached just now.
	Reached bool
	Message string
}

// A board is where a machine's progress is written and waited for.
type board struct {
	mutex   sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced with every change
}

// newBoard returns the board of a machine without power.
func newBoard(name string) *board {
	return &board{status: Status{Machine: name, Stage: stageOff, Steps: blank()}, changed: make(chan struct{})}
}

// blank is all steps, none of them reached.
func blank() []Progress {
	var steps []Progress
	for _, step := range Steps() {
		steps = append(steps, Progress{Step: step})
	}
	return steps
}

// read returns the status and a channel that is closed when it is no longer that.
func (b *board) read() (Status, <-chan struct{}) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	status := b.status
	status.Steps = slices.Clone(status.Steps)
	return status, b.changed
}

// write changes the status, and says whether the change was one.
func (b *board) write(change func(*Status) bool) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !change(&b.status) {
		return false
	}
	close(b.changed)
	b.changed = make(chan struct{})
	return true
}

// reach marks a step, once a boot.
func (s *Status) reach(step Step, now time.Time) bool {
	for i := range s.Steps {
		if s.Steps[i].Step == step && s.Steps[i].Reached.IsZero() {
			s.Steps[i].Reached, s.Steps[i].Reason = now, ""
			return true
		}
	}
	return false
}

// stop gives the reason for which a step is not reached. A step that was reached stays so.
func (s *Status) stop(step Step, reason string) bool {
	for i := range s.Steps {
		if s.Steps[i].Step == step && s.Steps[i].Reached.IsZero() && s.Steps[i].Reason != reason {
			s.Steps[i].Reason = reason
			return true
		}
	}
	return false
}

// lose takes a step back, with the reason.
func (s *Status) lose(step Step, reason string) bool {
	for i := range s.Steps {
		if s.Steps[i].Step == step && !s.Steps[i].Reached.IsZero() {
			s.Steps[i].Reached, s.Steps[i].Reason = time.Time{}, reason
			return true
		}
	}
	return false
}
