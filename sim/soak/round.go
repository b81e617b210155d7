// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// every is how often everything that can change at any moment is looked at.
const every = 300 * time.Millisecond

// errViolated ends what goes on when something is wrong.
var errViolated = errors.New("an invariant was violated")

// Round plays a round: all of it happens, all that is wrong is mended, and then all must come to be as declared. It returns what
// must never be. An error says that it could not be played.
func (s *Stage) Round(ctx context.Context, round story.Round) ([]invariant.Violation, error) {
	playing, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := &watch{stage: s, cancel: cancel}
	var watching sync.WaitGroup
	watching.Go(func() { watch.run(playing) })
	err := s.play(playing, round)
	var found []invariant.Violation
	if err == nil {
		found, err = s.settle(playing, round)
	}
	cancel(nil)
	watching.Wait()
	if seen := watch.seen(); len(seen) > 0 {
		return seen, nil
	}
	if errors.Is(err, errNever) {
		return []invariant.Violation{{Invariant: invariant.Converges, Evidence: err.Error()}}, nil
	}
	return found, err
}

// play has everything happen at its time: what people do one after the other, what goes wrong by itself.
func (s *Stage) play(ctx context.Context, round story.Round) error {
	began := time.Now()
	failed := make(chan error, len(round.Deeds)+1)
	var work sync.WaitGroup
	for _, deed := range round.Deeds {
		if deed.IsFault() {
			work.Go(func() {
				if rest(ctx, time.Until(began.Add(deed.At))); ctx.Err() == nil {
					s.tell("%s", deed)
					failed <- s.suffer(ctx, deed)
				}
			})
		}
	}
	for _, deed := range round.Deeds {
		if deed.IsFault() {
			continue
		}
		if rest(ctx, time.Until(began.Add(deed.At))); ctx.Err() != nil {
			break
		}
		s.tell("%s", deed)
		if err := s.act(ctx, deed); err != nil {
			failed <- err
			break
		}
	}
	work.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return s.cause(ctx, err)
		}
	}
	return s.cause(ctx, s.mend(ctx))
}

// cause is why something ended: a violation is told by whoever saw it.
func (s *Stage) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errViolated) {
		return errViolated
	}
	return err
}

// settle waits until all is as declared, and holds it to what must hold then.
func (s *Stage) settle(ctx context.Context, round story.Round) ([]invariant.Violation, error) {
	began := time.Now()
	found, err := s.converge(ctx)
	if err != nil || len(found) > 0 {
		return found, s.cause(ctx, err)
	}
	took := time.Since(began)
	s.mutex.Lock()
	s.summary.Longest = max(s.summary.Longest, in(took))
	s.mutex.Unlock()
	s.tell("all is as declared after %s", took.Round(time.Second/10))
	return s.Judge(ctx, round.After.IsEmpty())
}

// converge waits until all is as declared, for as long as something goes on.
func (s *Stage) converge(ctx context.Context) ([]invariant.Violation, error) {
	began, changed, before := time.Now(), time.Now(), ""
	var waits []string
	for ctx.Err() == nil {
		now, err := s.look(ctx)
		if err == nil {
			if waits = invariant.Unsettled(now, s.wanted()); len(waits) == 0 {
				return nil, nil
			}
		} else {
			waits = []string{err.Error()}
		}
		if print := invariant.Fingerprint(now, waits); print != before {
			changed, before = time.Now(), print
		}
		s.options.Tell(Line{At: time.Since(s.began), Round: int(s.round.Load()), Passing: true, Text: "waits: " + waits[0]})
		switch {
		case time.Since(changed) > s.options.Patience:
			return s.never(waits, "nothing has changed for %s", s.options.Patience), nil
		case time.Since(began) > s.options.Limit:
			return s.never(waits, "%s have passed", s.options.Limit), nil
		}
		rest(ctx, every)
	}
	return nil, ctx.Err()
}

// never says that it did not come to be as declared.
func (s *Stage) never(waits []string, format string, args ...any) []invariant.Violation {
	return []invariant.Violation{{
		Invariant: invariant.Converges, Evidence: fmt.Sprintf(format, args...) + ", and " + strings.Join(waits, "; "),
	}}
}

// Judge holds what there is to what must hold at rest, when everything was removed if so. What is left over is looked at again for a
// while, because places take a moment to remove what was let go.
func (s *Stage) Judge(ctx context.Context, empty bool) ([]invariant.Violation, error) {
	until := time.Now().Add(s.options.Grace)
	for {
		final, passing, err := s.judge(ctx, empty)
		if err == nil && len(final)+len(passing) == 0 {
			s.mutex.Lock()
			s.history.Settled()
			s.mutex.Unlock()
			return nil, nil
		}
		if len(final) > 0 || ctx.Err() != nil || !time.Now().Before(until) {
			return slices.Concat(final, passing), s.cause(ctx, err)
		}
		rest(ctx, every)
	}
}

// judge is one look: what is wrong for good, and what may be wrong for a moment.
func (s *Stage) judge(ctx context.Context, empty bool) (final, passing []invariant.Violation, err error) {
	now, err := s.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.learn(ctx, now.Clusters)
	leaks, err := s.leaks(ctx)
	final, passing = slices.Concat(s.see(now), leaks), invariant.AtRest(now)
	if err != nil || !empty {
		return final, passing, err
	}
	left, err := s.left(ctx)
	return final, slices.Concat(passing, invariant.Left(now, left)), err
}

// see adds a snapshot to the history, and says what is wrong with it.
func (s *Stage) see(now invariant.Snapshot) []invariant.Violation {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.summary.Snapshots++
	for _, machine := range now.Machines {
		s.made[machine.Identity] = true
	}
	return s.history.See(now)
}
