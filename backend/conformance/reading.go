// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"minos.dev/minos/backend"
)

// reading is: Gone is a fact, and a list is not.
var reading = []Check{
	{"what never was is gone", missesTheAbsent},
	{"a long list is complete", listsAll},
	{"a machine that a list leaves out is not gone", findsTheOmitted},
	{"reads that are late settle in the time that the place gives", settles},
}

func missesTheAbsent(ctx context.Context, b *bench) error {
	_, err := b.place.Get(ctx, mine, b.Absent)
	if err := failsWith(err, backend.Gone); err != nil {
		return fmt.Errorf("a Get of what never was: %w", err)
	}
	return b.lists(ctx, mine)
}

func listsAll(ctx context.Context, b *bench) error {
	var names []string
	for n := range 60 {
		names = append(names, fmt.Sprintf("many-%02d", n))
		if _, err := b.create(ctx, names[n]); err != nil {
			return err
		}
	}
	if err := b.lists(ctx, mine, names...); err != nil {
		return err
	}
	found, err := b.place.List(ctx, mine)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, one := range found {
		if one.ID == "" || seen[one.ID] {
			return fmt.Errorf("the list shows %s with the ID %q, which another has or nobody", one.Name, one.ID)
		}
		seen[one.ID] = true
	}
	return b.exist(len(names))
}

func findsTheOmitted(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Omits: "shy"}); err != nil {
		return err
	}
	made, err := b.create(ctx, "shy")
	if err != nil {
		return err
	}
	if _, err := b.create(ctx, "bold"); err != nil {
		return err
	}
	if err := b.lists(ctx, mine, "bold"); err != nil {
		return fmt.Errorf("the double does not leave one out: %w", err)
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	return b.exist(2)
}

func settles(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Lag: 300 * time.Millisecond}); err != nil {
		return err
	}
	made, err := b.create(ctx, "late")
	if err != nil {
		return err
	}
	if err := b.finds(ctx, "late", made.ID); err != nil {
		return fmt.Errorf("reads do not show it yet: %w", err)
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	for range 5 {
		if _, err := b.place.Get(ctx, mine, made.ID); err != nil {
			return fmt.Errorf("it was shown, and then: %w", err)
		}
	}
	if err := b.lists(ctx, mine, "late"); err != nil {
		return err
	}
	if err := b.place.Delete(ctx, mine, made.ID); err != nil {
		return err
	}
	return errors.Join(b.vanishes(ctx, made.ID), b.lists(ctx, mine), b.clears(ctx))
}
