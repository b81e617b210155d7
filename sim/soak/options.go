// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"time"

	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// Options are one soak.
type Options struct {
	// Folder keeps it, with all logs.
	Folder string
	// Operator is the operator's program; it is looked for if it is not said.
	Operator string
	// Seed decides the story.
	Seed uint64
	// For is how long new rounds are begun, and Rounds how many there are at most. Zero is without end, of one of the two.
	For    time.Duration
	Rounds int
	// Bounds are how much happens; Usual if they are not said.
	Bounds story.Bounds
	// Patience is how long nothing may change before all is as declared, and Limit how long that may take altogether.
	Patience, Limit time.Duration
	// Grace is how long something may be left over at rest before it is wrong.
	Grace time.Duration
	// Tell is told what happens, also at the same time.
	Tell func(Line)
}

// A Line is something that happens.
type Line struct {
	// At is when, since the soak began, and Round in which round.
	At    time.Duration
	Round int
	Text  string
	// Passing says that the line tells how far it is, and is true for a moment only.
	Passing bool
}

// Usual is a story on a small machine: a few clusters, some ten machines.
func Usual() story.Bounds {
	return story.Bounds{Clusters: 2, Pools: 3, Replicas: 3, Acts: 4, Faults: 4, Length: 20 * time.Second, Ends: 4, Patient: true}
}

// Brief is a story of minutes, for every change of the code: one cluster, and nothing that is noticed by patience only.
func Brief() story.Bounds {
	return story.Bounds{Clusters: 1, Pools: 2, Replicas: 2, Acts: 3, Faults: 3, Length: 8 * time.Second, Ends: 3}
}

// filled returns options in which nothing is missing.
func (o Options) filled() Options {
	if o.Bounds == (story.Bounds{}) {
		o.Bounds = Usual()
	}
	o.Patience, o.Limit = cmp.Or(o.Patience, 4*time.Minute), cmp.Or(o.Limit, 15*time.Minute)
	o.Grace = cmp.Or(o.Grace, 20*time.Second)
	if o.Tell == nil {
		o.Tell = func(Line) {}
	}
	return o
}

// A Summary is how a soak went.
type Summary struct {
	Seed uint64 `json:"seed"`
	// Rounds were completed, in so much time.
	Rounds int     `json:"rounds"`
	Took   Seconds `json:"took"`
	// Acts and Faults are how often each kind happened, Refused how many acts the guard refused.
	Acts    map[string]int `json:"acts"`
	Faults  map[string]int `json:"faults"`
	Refused int            `json:"refused"`
	// Machines were made, and Snapshots looked at.
	Machines  int `json:"machines"`
	Snapshots int `json:"snapshots"`
	// Longest is the longest time from the end of what went wrong until all was as declared.
	Longest Seconds `json:"longestConvergence"`
	// Violations are what must never be; a soak ends with the first moment at which there is one.
	Violations []invariant.Violation `json:"violations"`
	// Story is what happened in the round that ended badly, and the rounds before it in short.
	Story []string `json:"story,omitempty"`
	// Logs is where the logs of all parts are.
	Logs string `json:"logs"`
}

// Seconds are a duration as programs read it.
type Seconds float64

// in is a duration in seconds.
func in(d time.Duration) Seconds { return Seconds(d.Round(time.Second / 10).Seconds()) }

// Passed says whether nothing is wrong.
func (s Summary) Passed() bool { return len(s.Violations) == 0 }
