// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"minos.dev/minos/backend"
)

// ending is: calls return soon after their context ends, and nothing that comes back is secret.
var ending = []Check{
	{"a context that has ended ends every call", endsBefore},
	{"a context that ends meanwhile ends every call soon", endsMeanwhile},
	{"user data and credentials never show", hides},
}

// soon is how long a call may go on after its context has ended, on a busy machine.
const soon = 5 * time.Second

func endsBefore(ctx context.Context, b *bench) error {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	err := b.everyCall(ended, b.Absent, func(err error) error { return endedBy(err, context.Canceled) })
	return errors.Join(err, b.nothing())
}

// endedBy wants an error to be a context's, and to claim nothing else.
func endedBy(err, want error) error {
	if err == nil {
		return fmt.Errorf("it succeeded, want: %w", want)
	}
	if !errors.Is(err, want) {
		return fmt.Errorf("it returned %w, want it to wrap: %w", err, want)
	}
	if reason := backend.ReasonOf(err); reason != backend.Unsure {
		return fmt.Errorf("the context ended, and the reason is %s, want %s", reason, backend.Unsure)
	}
	return nil
}

func endsMeanwhile(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Latency: 10 * soon}); err != nil {
		return err
	}
	for name, call := range b.calls(b.Absent) {
		if err := isCutShort(ctx, call); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := b.behave(Behaviour{}); err != nil {
		return err
	}
	if _, err := b.create(ctx, "every-call"); err != nil {
		return fmt.Errorf("a Create after one that was given up: %w", err)
	}
	return b.exist(1)
}

// isCutShort wants a slow call to end with its context.
func isCutShort(ctx context.Context, call func(context.Context) error) error {
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := endedBy(call(short), context.DeadlineExceeded); err != nil {
		return err
	}
	if took := time.Since(begin); took > soon {
		return fmt.Errorf("it returned %s after its context ended", took)
	}
	return nil
}

func hides(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "hidden")
	if err != nil {
		return err
	}
	theirs := b.wanted("hidden")
	theirs.Owner = sibling
	fat := b.wanted("fat")
	fat.UserData = []byte(strings.Repeat(userData, b.place.Traits().UserData/len(userData)+1))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	trials := []struct {
		behaviour Behaviour
		context   context.Context
		wanted    backend.Machine
	}{
		{Behaviour{}, ctx, b.wanted("hidden")}, {Behaviour{}, ctx, theirs}, {Behaviour{}, ctx, fat}, {Behaviour{}, ctx, b.wanted("Bad_Name")},
		{Behaviour{Revoked: true}, ctx, b.wanted("next")}, {Behaviour{Refuses: true}, ctx, b.wanted("next")},
		{Behaviour{Quota: 1}, ctx, b.wanted("next")}, {Behaviour{LosesAnswers: true}, ctx, b.wanted("next")},
		{Behaviour{FailsInstances: true}, ctx, b.wanted("last")}, {Behaviour{Latency: 10 * soon}, short, b.wanted("slow")},
	}
	for _, trial := range trials {
		if err := b.behave(trial.behaviour); err != nil {
			return err
		}
		// How each call ends is for other checks: here is only looked at what comes back.
		_, _ = b.place.Create(trial.context, trial.wanted)
		_, _ = b.place.Get(trial.context, mine, made.ID)
		_, _ = b.place.List(trial.context, mine)
		_ = b.place.Delete(trial.context, mine, b.Absent)
	}
	return nil
}
