// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A schedule does for all machines of a rack what each does now and then, with one goroutine that watches the clock: a
// thousand timers that renew leases would otherwise be a thousand goroutines.
type schedule struct {
	mutex sync.Mutex
	jobs  jobs
	wake  chan struct{}
	// busy limits how many jobs run at once: an API server that is slow must not be given ever more to do.
	busy chan struct{}
	work sync.WaitGroup
}

// A job is done again and again until it is dropped.
type job struct {
	due     time.Time
	every   time.Duration
	run     func(context.Context)
	context context.Context // ends with the boot that the job belongs to
}

// atOnce is how many jobs run, and how many machines ask to be signed, at the same time.
const atOnce = 64

// newSchedule returns a schedule that nobody watches yet.
func newSchedule() *schedule {
	return &schedule{wake: make(chan struct{}, 1), busy: make(chan struct{}, atOnce)}
}

// add does something every so often, for the first time after one interval, until the context ends.
func (s *schedule) add(ctx context.Context, every time.Duration, run func(context.Context)) {
	s.mutex.Lock()
	heap.Push(&s.jobs, &job{due: time.Now().Add(every), every: every, run: run, context: ctx})
	s.mutex.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// watch runs what is due until the context ends, and waits for what runs.
func (s *schedule) watch(ctx context.Context) {
	defer s.work.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(s.start(ctx, time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// start begins every job that is due and says how long it is until the next.
func (s *schedule) start(ctx context.Context, now time.Time) time.Duration {
	for {
		next, until := s.next(now)
		if next == nil {
			return until
		}
		select {
		case s.busy <- struct{}{}:
		case <-ctx.Done():
			return 0
		}
		s.work.Go(func() {
			defer func() { <-s.busy }()
			next.run(next.context)
			s.again(next)
		})
	}
}

// next takes the first job that is due, and drops those that ended.
func (s *schedule) next(now time.Time) (*job, time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.jobs) > 0 {
		first := s.jobs[0]
		if first.context.Err() != nil {
			heap.Pop(&s.jobs)
			continue
		}
		if until := first.due.Sub(now); until > 0 {
			return nil, until
		}
		heap.Pop(&s.jobs)
		return first, 0
	}
	return nil, time.Hour
}

// again puts a job back.
func (s *schedule) again(done *job) {
	if done.context.Err() == nil {
		s.add(done.context, done.every, done.run)
	}
}

// jobs is a heap by when they are due.
type jobs []*job

func (j jobs) Len() int           { return len(j) }
func (j jobs) Less(a, b int) bool { return j[a].due.Before(j[b].due) }
func (j jobs) Swap(a, b int)      { j[a], j[b] = j[b], j[a] }
func (j *jobs) Push(x any)        { *j = append(*j, x.(*job)) } //nolint:forcetypeassert // the heap holds nothing else

// Pop takes the last, as the heap wants it.
func (j *jobs) Pop() any {
	all := *j
	last := all[len(all)-1]
	*j = all[:len(all)-1]
	return last
}
