// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
)

// rotating is a part in the middle of being replaced.
type rotating struct {
	*Secrets
	part     Part
	kind     overlap
	contract *config.VersionContract
	now      time.Time
}

// A move is a step and the one that was done before it.
type move struct{ from, to Step }

// do does a step.
func (r *rotating) do(step Step) (Change, error) {
	current := Step("")
	if under := r.rotation(r.part); under != nil {
		current = under.Step
	}
	switch (move{current, step}) {
	case move{"", StepAccept}:
		return r.accept()
	case move{StepAccept, StepIssue}:
		return r.issue()
	case move{StepIssue, StepFinish}:
		return r.end("the old "+r.kind.what+" is forgotten",
			"apply the configurations to every machine: then the old one is worth nothing, and what it signed neither"), nil
	case move{StepAccept, StepAbort}:
		return r.end("the new "+r.kind.what+" is forgotten, and the old one goes on", "apply the configurations to every machine"), nil
	case move{StepAccept, StepAccept}, move{StepIssue, StepIssue}:
		return r.unchanged(), nil
	case move{"", StepFinish}, move{"", StepAbort}:
		return Change{Secrets: r.Secrets, Done: "no rotation is under way"}, nil
	}
	return Change{}, r.outOfOrder(step, current)
}

// end forgets what is accepted beside what issues.
func (r *rotating) end(done, apply string) Change {
	r.set(r.part, nil)
	return Change{Secrets: r.Secrets, Changed: true, Done: done, Apply: apply}
}

// outOfOrder says which step comes first.
func (r *rotating) outOfOrder(step, current Step) error {
	switch {
	case step == StepIssue:
		return fmt.Errorf("%s: nothing new is accepted yet: the step %s comes first", r.part, StepAccept)
	case step == StepFinish:
		return fmt.Errorf("%s: the old one still issues: the step %s comes first", r.part, StepIssue)
	case step == StepAccept:
		return fmt.Errorf("%s: a rotation is under way, and the new one issues: the step %s ends it", r.part, StepFinish)
	case step == StepAbort:
		return fmt.Errorf("%s: the new one issues already, and the key of the old one is gone: the step %s ends it", r.part, StepFinish)
	}
	return fmt.Errorf("%s: there is no step %q after %q", r.part, step, current)
}

// accept makes the new one.
func (r *rotating) accept() (Change, error) {
	if _, err := r.kind.get(r.Bundle); err != nil {
		return Change{}, fmt.Errorf("%s: %w", r.part, err)
	}
	fresh, err := r.kind.make(r.contract, r.now)
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", r.part, err)
	}
	r.set(r.part, r.entry(StepAccept, fresh))
	return r.under("a new " + r.kind.what + " is made and accepted; the old one still issues"), nil
}

// issue swaps the two, and forgets the key of the old one: it must not sign any more.
func (r *rotating) issue() (Change, error) {
	old, err := r.kind.get(r.Bundle)
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", r.part, err)
	}
	under := r.rotation(r.part)
	public, err := decode("public", under.Public)
	if err != nil {
		return Change{}, err
	}
	private, err := decode("key", under.Key)
	if err != nil {
		return Change{}, err
	}
	r.kind.put(r.Bundle, material{public, private})
	r.set(r.part, r.entry(StepIssue, material{public: old.public}))
	return r.under("the new " + r.kind.what + " issues; the old one is still accepted, and its key is gone"), nil
}

// entry is what a file remembers of a step.
func (r *rotating) entry(step Step, m material) *Rotation {
	return &Rotation{
		Part: r.part, Step: step, Since: r.now.UTC().Format(time.RFC3339),
		Public: base64.StdEncoding.EncodeToString(m.public), Key: base64.StdEncoding.EncodeToString(m.private),
	}
}

// under is a change after which the rotation goes on.
func (r *rotating) under(done string) Change {
	change := r.unchanged()
	change.Changed, change.Done = true, done
	return change
}

// unchanged says where the rotation stands.
func (r *rotating) unchanged() Change {
	under := r.rotation(r.part)
	change := Change{
		Secrets: r.Secrets, Done: fmt.Sprintf("the step %s was done on %s", under.Step, under.Since),
		Apply: "apply the configurations to every machine, and wait until each has it", Next: StepIssue,
	}
	if under.Step == StepIssue {
		change.Next = StepFinish
		change.Apply = "apply the configurations to every machine, and wait until " + r.kind.until
	}
	return change
}
