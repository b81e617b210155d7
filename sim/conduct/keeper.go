// SPDX-License-Identifier: Apache-2.0

package conduct

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Keeper watches over a place: it counts calls, keeps them to the rate, and lets time pass.
type Keeper struct {
	seed  uint64
	scale float64

	mutex     sync.Mutex
	behaviour Behaviour
	limiter   *rate.Limiter
	asked     map[Occasion]int
}

// NewKeeper returns a keeper of a place. The seed decides what goes wrong, the scale how much faster than life time passes.
func NewKeeper(seed uint64, scale float64, behaviour Behaviour) *Keeper {
	if scale <= 0 {
		scale = 1
	}
	k := &Keeper{seed: seed, scale: scale, asked: map[Occasion]int{}}
	k.Set(behaviour)
	return k
}

// Set changes the behaviour from now on. What was counted begins anew, so that "the first two" are the next two.
func (k *Keeper) Set(behaviour Behaviour) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.behaviour, k.limiter = behaviour, nil
	clear(k.asked)
	if behaviour.Rate > 0 {
		k.limiter = rate.NewLimiter(rate.Limit(behaviour.Rate*k.scale), max(1, behaviour.Burst))
	}
}

// Behaviour is how the place behaves now.
func (k *Keeper) Behaviour() Behaviour {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.behaviour
}

// Scaled is how long a simulated time is on the clock.
func (k *Keeper) Scaled(d time.Duration) time.Duration { return time.Duration(float64(d) / k.scale) }

// A Turn is one call that was let in.
type Turn struct {
	Decision
	// TooFast is how long the caller must wait before it asks again; zero if it need not.
	TooFast time.Duration
	occasion
}

// occasion is what a turn remembers of its call.
type occasion struct {
	behaviour Behaviour
	seed      uint64
	on        Occasion
}

// Leaves says whether a list leaves a machine out.
func (t Turn) Leaves(machine string) bool {
	return t.behaviour.Leaves(t.seed, Occasion{Call: t.on.Call, Machine: machine, Before: t.on.Before})
}

// Ask lets a call in: it says what goes wrong with it after the time that it takes. Its error is the context's.
func (k *Keeper) Ask(ctx context.Context, call Call, machine string) (Turn, error) {
	turn := k.begin(call, machine)
	if turn.TooFast > 0 {
		return turn, nil
	}
	return turn, k.Pass(ctx, turn.Takes)
}

// begin counts a call and decides about it.
func (k *Keeper) begin(call Call, machine string) Turn {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.limiter != nil {
		reservation := k.limiter.Reserve()
		if wait := reservation.Delay(); wait > 0 {
			reservation.Cancel()
			return Turn{TooFast: wait}
		}
	}
	key := Occasion{Call: call, Machine: machine}
	on := Occasion{Call: call, Machine: machine, Before: k.asked[key]}
	k.asked[key]++
	return Turn{Decision: k.behaviour.Decide(k.seed, on), occasion: occasion{k.behaviour, k.seed, on}}
}

// Pass lets simulated time pass. Its error is the context's.
func (k *Keeper) Pass(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(k.Scaled(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
