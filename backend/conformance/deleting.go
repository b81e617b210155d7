// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"minos.dev/minos/backend"
)

// deleting is: what is deleted leaves nothing.
var deleting = []Check{
	{"what is deleted is gone and leaves nothing", leavesNothing},
	{"deleting twice and deleting nothing succeed", deletesAgain},
	{"a machine can be deleted while it is made", deletesTheUnmade},
}

func leavesNothing(ctx context.Context, b *bench) error {
	var made []backend.Instance
	for _, name := range []string{"first", "second"} {
		one, err := b.create(ctx, name)
		if err != nil {
			return err
		}
		if _, err := b.shows(ctx, one.ID, backend.Running); err != nil {
			return err
		}
		made = append(made, one)
	}
	if err := b.place.Delete(ctx, mine, made[0].ID); err != nil {
		return err
	}
	if err := errors.Join(b.vanishes(ctx, made[0].ID), b.lists(ctx, mine, "second"), b.exist(1)); err != nil {
		return err
	}
	if _, err := b.shows(ctx, made[1].ID, backend.Running); err != nil {
		return fmt.Errorf("the one that was not deleted: %w", err)
	}
	if err := b.place.Delete(ctx, mine, made[1].ID); err != nil {
		return err
	}
	return errors.Join(b.vanishes(ctx, made[1].ID), b.lists(ctx, mine), b.clears(ctx))
}

func deletesAgain(ctx context.Context, b *bench) error {
	if err := b.place.Delete(ctx, mine, b.Absent); err != nil {
		return fmt.Errorf("a Delete of what never was: %w", err)
	}
	if err := b.behave(Behaviour{Stop: 100 * time.Millisecond}); err != nil {
		return err
	}
	made, err := b.create(ctx, "again")
	if err != nil {
		return err
	}
	for range 3 {
		if err := b.place.Delete(ctx, mine, made.ID); err != nil {
			return fmt.Errorf("a Delete of what is being deleted: %w", err)
		}
	}
	if err := errors.Join(b.vanishes(ctx, made.ID), b.clears(ctx)); err != nil {
		return err
	}
	if err := b.place.Delete(ctx, mine, made.ID); err != nil {
		return fmt.Errorf("a Delete of what is gone: %w", err)
	}
	return nil
}

func deletesTheUnmade(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Start: time.Hour}); err != nil {
		return err
	}
	made, err := b.create(ctx, "unmade")
	if err != nil {
		return err
	}
	if made.State != backend.Creating {
		return fmt.Errorf("the machine is made for an hour, and is %s", made.State)
	}
	if err := b.place.Delete(ctx, mine, made.ID); err != nil {
		return err
	}
	return errors.Join(b.vanishes(ctx, made.ID), b.clears(ctx))
}
