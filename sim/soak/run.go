// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"minos.dev/minos/sim/soak/story"
)

// Run plays rounds for as long as is asked, or until something is wrong, which is in the summary. An error says that it could not be
// played; the context ends it between any two moments.
func Run(ctx context.Context, options Options) (summary Summary, err error) {
	s, err := Open(ctx, options)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = s.rounds(ctx)
	return s.Summary(), err
}

// rounds plays them.
func (s *Stage) rounds(ctx context.Context) error {
	world := story.World{}
	for number := 0; s.goesOn(number); number++ {
		round := story.Tell(s.options.Seed, number, world, s.options.Bounds)
		s.begin(round)
		found, err := s.Round(ctx, round)
		if err != nil || len(found) > 0 {
			s.mutex.Lock()
			s.summary.Violations = found
			s.mutex.Unlock()
			return err
		}
		world = round.After
		s.mutex.Lock()
		s.summary.Rounds++
		s.summary.Story = nil
		s.mutex.Unlock()
	}
	return nil
}

// goesOn says whether there is another round.
func (s *Stage) goesOn(number int) bool {
	return (s.options.Rounds == 0 || number < s.options.Rounds) && (s.options.For == 0 || number == 0 || time.Since(s.began) < s.options.For)
}

// begin notes what will happen, in case it ends badly.
func (s *Stage) begin(round story.Round) {
	s.mutex.Lock()
	s.summary.Story = append(s.summary.Story, fmt.Sprintf("round %d, after %d machines in %d clusters:", round.Number, len(s.made), len(round.Before.Clusters)))
	for _, deed := range round.Deeds {
		s.summary.Story = append(s.summary.Story, "  "+deed.String())
	}
	s.mutex.Unlock()
	s.round.Store(int64(round.Number))
	s.tell("round %d begins", round.Number)
}

// Summary is how it went until now.
func (s *Stage) Summary() Summary {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	summary := s.summary
	summary.Took, summary.Machines = in(time.Since(s.began)), len(s.made)
	return summary
}
