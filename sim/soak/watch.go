// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"slices"
	"sync"
	"time"

	"minos.dev/minos/sim/soak/invariant"
)

// A watch looks at everything that can change at any moment, all the time, and ends the round when something is wrong.
type watch struct {
	stage  *Stage
	cancel context.CancelCauseFunc

	mutex sync.Mutex
	found []invariant.Violation
}

// rarely is how often Secrets are looked at, which are many.
const rarely = 2 * time.Second

// run watches until the context ends. What cannot be seen is looked at again.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		looking, cancel := context.WithTimeout(ctx, calling)
		now, err := w.stage.glance(looking)
		if err == nil && time.Since(last) > rarely {
			now.Secrets, err = w.stage.secrets(looking)
			last = time.Now()
		}
		cancel()
		if err != nil {
			continue
		}
		if found := w.stage.see(now); len(found) > 0 {
			w.mutex.Lock()
			w.found = found
			w.mutex.Unlock()
			w.cancel(errViolated)
			return
		}
	}
}

// seen is what was wrong.
func (w *watch) seen() []invariant.Violation {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.found)
}
