// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"minos.dev/minos/backend"
)

// The owners in the suite. All differ from the first in one word.
var (
	mine      = backend.Owner{Installation: "here", Cluster: "shop"}
	sibling   = backend.Owner{Installation: "here", Cluster: "other"}
	elsewhere = backend.Owner{Installation: "there", Cluster: "shop"}
)

// userData is what every machine of the suite is given. It is looked for in all that comes back.
const userData = "machine-token-that-nobody-may-read"

// A bench is a double under test.
type bench struct {
	Double
	place *watch
}

// newBench puts a double on the bench.
func newBench(double Double) *bench {
	return &bench{Double: double, place: newWatch(double.Place, double.Secrets)}
}

// wanted is a machine of ours.
func (b *bench) wanted(name string) backend.Machine {
	return backend.Machine{
		Owner: mine, Name: name, Pool: "workers", Spec: b.Machine.Spec, Image: b.Machine.Image, UserData: []byte(userData),
	}
}

// create makes a machine of ours.
func (b *bench) create(ctx context.Context, name string) (backend.Instance, error) {
	made, err := b.place.Create(ctx, b.wanted(name))
	if err != nil {
		return made, fmt.Errorf("create %s: %w", name, err)
	}
	if made.ID == "" {
		return made, fmt.Errorf("create %s: the instance has no ID", name)
	}
	return made, nil
}

// finds wants a Create of what is there to return it.
func (b *bench) finds(ctx context.Context, name, id string) error {
	found, err := b.create(ctx, name)
	if err == nil && found.ID != id {
		return fmt.Errorf("a Create of what is there returned %s, want %s", found.ID, id)
	}
	return err
}

// behave has the double behave.
func (b *bench) behave(behaviour Behaviour) error {
	if err := b.Set(behaviour); err != nil {
		return fmt.Errorf("the double cannot do what this check needs: %w: teach it, or name the check in Uncovered", err)
	}
	return nil
}

// until asks until something is so. Its error is the last answer.
func until(ctx context.Context, ask func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // else it is only that time is up
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("it does not come to that: %w", last)
		}
	}
}

// shows waits until Get shows an instance in a state, and returns it. A Gone is believed when the place had its time to settle.
func (b *bench) shows(ctx context.Context, id string, state backend.State) (found backend.Instance, err error) {
	begin := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = until(ctx, func() (err error) {
		found, err = b.place.Get(ctx, mine, id)
		switch {
		case err == nil && found.State == state:
			return nil
		case err == nil:
			return fmt.Errorf("instance %s is %s, want %s", id, found.State, state)
		case backend.ReasonOf(err) == backend.Gone && time.Since(begin) <= b.place.Traits().Settles:
			return err
		}
		cancel(err) // it will not come to that
		return fmt.Errorf("get %s: %w", id, err)
	})
	return found, err
}

// vanishes waits until Get says that an instance is gone.
func (b *bench) vanishes(ctx context.Context, id string) error {
	return until(ctx, func() error {
		found, err := b.place.Get(ctx, mine, id)
		if err == nil {
			return fmt.Errorf("instance %s is %s, want it to be gone", id, found.State)
		}
		return failsWith(err, backend.Gone)
	})
}

// lists waits until a list has exactly these names, each once.
func (b *bench) lists(ctx context.Context, owner backend.Owner, names ...string) error {
	return until(ctx, func() error {
		found, err := b.place.List(ctx, owner)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		lacks, beside := slices.Clone(names), []string{}
		for _, instance := range found {
			if at := slices.Index(lacks, instance.Name); at >= 0 {
				lacks = slices.Delete(lacks, at, at+1)
			} else {
				beside = append(beside, instance.Name)
			}
		}
		if len(lacks)+len(beside) > 0 {
			return fmt.Errorf("the list lacks %v, and shows %v beside", lacks, beside)
		}
		return nil
	})
}

// exist wants a number of instances to be there in truth.
func (b *bench) exist(count int) error {
	if got := b.Truth().Instances; len(got) != count {
		return fmt.Errorf("in truth there are %d instances %v, want %d", len(got), got, count)
	}
	return nil
}

// nothing wants nothing to be there in truth.
func (b *bench) nothing() error {
	if truth := b.Truth(); len(truth.Instances)+len(truth.Others) > 0 {
		return fmt.Errorf("in truth there is something left: %v %v", truth.Instances, truth.Others)
	}
	return nil
}

// clears waits until nothing is there in truth.
func (b *bench) clears(ctx context.Context) error { return until(ctx, b.nothing) }

// failsWith wants an error to have a reason.
func failsWith(err error, want backend.Reason) error {
	if err == nil {
		return fmt.Errorf("it succeeded, want it to fail with %s", want)
	}
	if got := backend.ReasonOf(err); got != want {
		return fmt.Errorf("the reason is %s, want %s: %w", got, want, err)
	}
	failure, ok := errors.AsType[*backend.Error](err)
	if !ok || failure.Message == "" {
		return fmt.Errorf("it failed without a word: want a message of the kind backend.Error, got %T", err)
	}
	return nil
}

// calls are all that a place can be asked.
func (b *bench) calls(id string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Create": func(ctx context.Context) error { _, err := b.place.Create(ctx, b.wanted("every-call")); return err },
		"Get":    func(ctx context.Context) error { _, err := b.place.Get(ctx, mine, id); return err },
		"List":   func(ctx context.Context) error { _, err := b.place.List(ctx, mine); return err },
		"Delete": func(ctx context.Context) error { return b.place.Delete(ctx, mine, id) },
	}
}

// everyCall asks a place everything there is, and wants each to fail in a way.
func (b *bench) everyCall(ctx context.Context, id string, fails func(error) error) error {
	var problems []error
	for name, call := range b.calls(id) {
		if problem := fails(call(ctx)); problem != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, problem))
		}
	}
	return errors.Join(problems...)
}
