// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"minos.dev/minos/backend"
)

// owning is: nothing of others is touched.
var owning = []Check{
	{"a name of another owner is taken", leavesNames},
	{"owners do not see each other", seesNothingOfOthers},
	{"deleting what another owns does nothing", deletesNothingOfOthers},
}

// others are those who are not us: another cluster, and the same cluster of another installation.
var others = []backend.Owner{sibling, elsewhere}

func leavesNames(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "named")
	if err != nil {
		return err
	}
	before, err := b.shows(ctx, made.ID, backend.Running)
	if err != nil {
		return err
	}
	for _, other := range others {
		wanted := b.wanted("named")
		wanted.Owner, wanted.Pool = other, "theirs"
		_, err := b.place.Create(ctx, wanted)
		if err := failsWith(err, backend.Taken); err != nil {
			return fmt.Errorf("a Create with the name of another's machine: %w", err)
		}
	}
	after, err := b.shows(ctx, made.ID, backend.Running)
	if err != nil {
		return err
	}
	if after.ID != before.ID || after.Pool != before.Pool {
		return fmt.Errorf("the machine was %+v and is %+v", before, after)
	}
	return b.exist(1)
}

func seesNothingOfOthers(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "mine")
	if err != nil {
		return err
	}
	theirs := b.wanted("theirs")
	theirs.Owner = sibling
	if _, err := b.place.Create(ctx, theirs); err != nil {
		return err
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	if err := errors.Join(b.lists(ctx, mine, "mine"), b.lists(ctx, sibling, "theirs"), b.lists(ctx, elsewhere)); err != nil {
		return err
	}
	for _, other := range others {
		_, err := b.place.Get(ctx, other, made.ID)
		if err := failsWith(err, backend.Gone); err != nil {
			return fmt.Errorf("a Get of what another owns: %w", err)
		}
	}
	return nil
}

func deletesNothingOfOthers(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "mine")
	if err != nil {
		return err
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	before := b.Truth()
	for _, other := range others {
		if err := b.place.Delete(ctx, other, made.ID); err != nil {
			return fmt.Errorf("a Delete of what another owns: %w", err)
		}
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	if after := b.Truth(); !slices.Equal(before.Instances, after.Instances) || len(before.Others) != len(after.Others) {
		return fmt.Errorf("in truth there was %v, and there is %v", before, after)
	}
	return nil
}
