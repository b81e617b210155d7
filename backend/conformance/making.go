// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"minos.dev/minos/backend"
)

// making is: whoever asks twice gets one machine.
var making = []Check{
	{"a machine that is made runs and has all its names", makesOne},
	{"asking twice makes one machine", makesOneOfTwo},
	{"asking eight times at once makes one machine", makesOneOfEight},
	{"an answer that is lost is unsure and asking again finds the machine", findsTheLost},
	{"a machine that fails while it is made is failed", failsWhileMade},
	{"a machine that dies is failed and stays until it is deleted", staysWhenDead},
	{"a new machine of an old name is a new one", makesAnew},
}

func makesOne(ctx context.Context, b *bench) error {
	traits := b.place.Traits()
	if traits.Member == "" || traits.Member != b.Machine.Spec.Member() || traits.UserData <= 0 || traits.Settles < 0 {
		return fmt.Errorf("the traits make no sense: %+v", traits)
	}
	made, err := b.create(ctx, "one")
	if err != nil {
		return err
	}
	found, err := b.shows(ctx, made.ID, backend.Running)
	if err != nil {
		return err
	}
	if found.ID != made.ID || found.Name != "one" || found.Pool != "workers" {
		return fmt.Errorf("it is shown as %q, %q of pool %q", found.ID, found.Name, found.Pool)
	}
	return errors.Join(isComplete(found), b.lists(ctx, mine, "one"), b.exist(1))
}

// isComplete wants an instance that runs to have all that others need of it.
func isComplete(found backend.Instance) error {
	if found.ProviderID == "" || len(found.Addresses) == 0 || !found.Addresses[0].IsValid() {
		return fmt.Errorf("it runs with provider ID %q and addresses %v", found.ProviderID, found.Addresses)
	}
	if age := time.Since(found.Created); age < -time.Minute || age > time.Hour {
		return fmt.Errorf("it was made just now, and shows %s as the time of that", found.Created)
	}
	return nil
}

func makesOneOfTwo(ctx context.Context, b *bench) error {
	first, err := b.create(ctx, "twice")
	if err != nil {
		return err
	}
	at := b.Truth()
	if err := b.finds(ctx, "twice", first.ID); err != nil {
		return err
	}
	if _, err := b.shows(ctx, first.ID, backend.Running); err != nil {
		return err
	}
	if err := b.finds(ctx, "twice", first.ID); err != nil {
		return fmt.Errorf("when it runs: %w", err)
	}
	if len(at.Instances) != 1 {
		return fmt.Errorf("the first call made %v", at.Instances)
	}
	return b.exist(1)
}

func makesOneOfEight(ctx context.Context, b *bench) error {
	var work sync.WaitGroup
	var made [8]backend.Instance
	var failed [8]error
	for n := range made {
		work.Go(func() { made[n], failed[n] = b.create(ctx, "eight") })
	}
	work.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	for _, one := range made {
		if one.ID != made[0].ID {
			return fmt.Errorf("eight calls for one machine returned %s and %s", made[0].ID, one.ID)
		}
	}
	return b.exist(1)
}

func findsTheLost(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{LosesAnswers: true}); err != nil {
		return err
	}
	_, err := b.place.Create(ctx, b.wanted("lost"))
	if err := failsWith(err, backend.Unsure); err != nil {
		return fmt.Errorf("a Create without an answer: %w", err)
	}
	if err := b.exist(1); err != nil {
		return fmt.Errorf("the double lost more than the answer: %w", err)
	}
	was := b.Truth().Instances[0]
	if err := errors.Join(b.finds(ctx, "lost", was), b.exist(1)); err != nil {
		return err
	}
	if err := failsWith(b.place.Delete(ctx, mine, was), backend.Unsure); err != nil {
		return fmt.Errorf("a Delete without an answer: %w", err)
	}
	if err := b.place.Delete(ctx, mine, was); err != nil {
		return fmt.Errorf("a Delete again: %w", err)
	}
	return b.clears(ctx)
}

func failsWhileMade(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{FailsInstances: true}); err != nil {
		return err
	}
	made, err := b.create(ctx, "broken")
	if err != nil {
		return err
	}
	found, err := b.shows(ctx, made.ID, backend.Failed)
	if err != nil {
		return err
	}
	if found.Message == "" {
		return errors.New("it failed without a word")
	}
	return b.exist(1)
}

func staysWhenDead(ctx context.Context, b *bench) error {
	made, err := b.create(ctx, "mortal")
	if err != nil {
		return err
	}
	if _, err := b.shows(ctx, made.ID, backend.Running); err != nil {
		return err
	}
	if err := b.Kill("mortal"); err != nil {
		return fmt.Errorf("the double cannot let an instance die: %w: teach it, or name the check in Uncovered", err)
	}
	if _, err := b.shows(ctx, made.ID, backend.Failed); err != nil {
		return err
	}
	if err := b.lists(ctx, mine, "mortal"); err != nil {
		return err
	}
	if err := b.finds(ctx, "mortal", made.ID); err != nil {
		return err
	}
	if err := b.place.Delete(ctx, mine, made.ID); err != nil {
		return err
	}
	return errors.Join(b.vanishes(ctx, made.ID), b.clears(ctx))
}

func makesAnew(ctx context.Context, b *bench) error {
	if err := b.behave(Behaviour{Stop: 500 * time.Millisecond}); err != nil {
		return err
	}
	first, err := b.create(ctx, "phoenix")
	if err != nil {
		return err
	}
	if _, err := b.shows(ctx, first.ID, backend.Running); err != nil {
		return err
	}
	if err := b.place.Delete(ctx, mine, first.ID); err != nil {
		return err
	}
	_, err = b.place.Create(ctx, b.wanted("phoenix"))
	if err := failsWith(err, backend.Unavailable); err != nil {
		return fmt.Errorf("a Create while the old one is being deleted: %w", err)
	}
	if _, err := b.shows(ctx, first.ID, backend.Deleting); err != nil {
		return err
	}
	if err := errors.Join(b.lists(ctx, mine, "phoenix"), b.vanishes(ctx, first.ID)); err != nil {
		return err
	}
	second, err := b.create(ctx, "phoenix")
	if err != nil {
		return err
	}
	if first.ID == second.ID {
		return fmt.Errorf("the new machine has the ID %s of the old one", first.ID)
	}
	return b.exist(1)
}
