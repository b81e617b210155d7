// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

// refusing is: an error says what follows, and nothing was done unless it says so.
var refusing = []Check{
	{"credentials that are not valid are denied and nothing is gone", deniesTheRevoked},
	{"a place that is full makes nothing and has room again", hasRoomAgain},
	{"a place that is asked too fast says how long to wait", saysHowLong},
	{"a place that is not available does nothing", doesNothing},
	{"too much user data is invalid", refusesTooMuch},
	{"a bad name is invalid", refusesBadNames},
	{"a machine of another place is invalid", refusesOtherMembers},
}

func deniesTheRevoked(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "kept")
	if err != nil {
		return err
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	if err := b.behave(Behaviour{Revoked: true}); err != nil {
		return err
	}
	denied := func(err error) error { return failsWith(err, backend.Denied) }
	if err := errors.Join(b.everyCall(ctx, made.ID, denied), b.exist(1), b.behave(Behaviour{})); err != nil {
		return err
	}
	_, err = b.shows(ctx, made.ID, backend.Running)
	return err
}

func hasRoomAgain(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Quota: 2}); err != nil {
		return err
	}
	ids := map[string]string{}
	for _, name := range []string{"first", "second"} {
		made, err := b.create(ctx, name)
		if err != nil {
			return err
		}
		if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
			return err // what is being made would change the truth by itself
		}
		ids[name] = made.ID
	}
	before := b.Truth()
	_, err := b.place.Create(ctx, b.wanted("third"))
	if err := failsWith(err, backend.NoRoom); err != nil {
		return err
	}
	if after := b.Truth(); len(after.Instances) != 2 || len(after.Others) != len(before.Others) {
		return fmt.Errorf("a Create without room made something: there was %v and there is %v", before, after)
	}
	if err := b.finds(ctx, "first", ids["first"]); err != nil {
		return fmt.Errorf("in a full place: %w", err)
	}
	if err := errors.Join(b.place.Delete(ctx, mine, ids["first"]), b.vanishes(ctx, ids["first"])); err != nil {
		return err
	}
	_, err = b.create(ctx, "third")
	return errors.Join(err, b.exist(2))
}

func saysHowLong(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Limited: true}); err != nil {
		return err
	}
	var err error
	for range 100 {
		if _, err = b.place.List(ctx, mine); err != nil {
			break
		}
	}
	if err := failsWith(err, backend.TooFast); err != nil {
		return err
	}
	_, err = b.place.Create(ctx, b.wanted("hasty"))
	if err := failsWith(err, backend.TooFast); err != nil {
		return err
	}
	wait := backend.After(err)
	if wait <= 0 || wait > time.Minute {
		return fmt.Errorf("it says to wait for %s: %w", wait, err)
	}
	if err := b.nothing(); err != nil {
		return err
	}
	if err := pass(ctx, wait); err != nil {
		return err
	}
	if _, err := b.create(ctx, "hasty"); err != nil {
		return fmt.Errorf("after the wait of %s: %w", wait, err)
	}
	return b.exist(1)
}

// pass waits as long as a place said.
func pass(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func doesNothing(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "kept")
	if err != nil {
		return err
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	if err := b.behave(Behaviour{Refuses: true}); err != nil {
		return err
	}
	before := b.Truth()
	unavailable := func(err error) error { return failsWith(err, backend.Unavailable) }
	if err := b.everyCall(ctx, made.ID, unavailable); err != nil {
		return err
	}
	if after := b.Truth(); len(after.Instances) != 1 || len(after.Others) != len(before.Others) {
		return fmt.Errorf("a place that is not available did something: there was %v and there is %v", before, after)
	}
	if err := b.behave(Behaviour{}); err != nil {
		return err
	}
	_, err = b.shows(ctx, made.ID, backend.Running)
	return err
}

// refuses wants a machine to be invalid and nothing to be made.
func (b *bench) refuses(ctx context.Context, wanted backend.Machine) error {
	_, err := b.place.Create(ctx, wanted)
	return errors.Join(failsWith(err, backend.Invalid), b.nothing())
}

func refusesTooMuch(ctx context.Context, b *bench) error {
	room := b.place.Traits().UserData
	for _, size := range []int{room + 1, 4*room + 1} {
		wanted := b.wanted("fat")
		wanted.UserData = []byte(strings.Repeat(userData, size/len(userData)+1)[:size])
		if err := b.refuses(ctx, wanted); err != nil {
			return fmt.Errorf("%d bytes of user data: %w", size, err)
		}
	}
	wanted := b.wanted("full")
	wanted.UserData = []byte(strings.Repeat("x", room))
	if _, err := b.place.Create(ctx, wanted); err != nil {
		return fmt.Errorf("%d bytes of user data, which fit: %w", room, err)
	}
	return b.exist(1)
}

func refusesBadNames(ctx context.Context, b *bench) error {
	for _, name := range []string{"", "Upper", "under_score", "-first", "last-", "two.words", "../up", "a b", "ü", strings.Repeat("n", 64)} {
		if err := b.refuses(ctx, b.wanted(name)); err != nil {
			return fmt.Errorf("the name %q: %w", name, err)
		}
	}
	return nil
}

func refusesOtherMembers(ctx context.Context, b *bench) error {
	specs := []api.Machine{{}, {Metal: &api.MetalMachine{}}, {KubeVirt: &api.KubeVirtMachine{}}, {Sim: &api.SimMachine{}}}
	for _, spec := range specs {
		if spec.Member() == b.place.Traits().Member {
			continue
		}
		wanted := b.wanted("stranger")
		wanted.Spec = spec
		if err := b.refuses(ctx, wanted); err != nil {
			return fmt.Errorf("a machine of the place %q: %w", spec.Member(), err)
		}
	}
	return nil
}
