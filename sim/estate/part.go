// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A running part.
type running interface {
	Stop() error
	Kill()
	Done() <-chan struct{}
}

// A part is one of the estate, which runs or does not.
type part struct {
	estate *Estate
	name   Part
	begin  func(ctx context.Context) (running, error)

	// turn lets one at a time start or end it. It is held for as long as that takes.
	turn sync.Mutex

	mutex sync.Mutex // of what follows
	now   running    // nil when it does not run
}

// start starts it.
func (p *part) start(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.runs() {
		return nil
	}
	return p.starts(ctx)
}

// starts starts it, for whoever has the turn.
func (p *part) starts(ctx context.Context) error {
	p.estate.options.Tell(p.name, "starts")
	begin := time.Now()
	started, err := p.begin(ctx)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.set(started)
	p.estate.work.Go(func() { p.watch(started) })
	p.estate.options.Tell(p.name, fmt.Sprintf("is ready after %.1fs", time.Since(begin).Seconds()))
	return nil
}

// end ends it in the given way.
func (p *part) end(how func(running) error) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.mutex.Lock()
	was := p.now
	p.now = nil // so that nobody starts it again
	p.mutex.Unlock()
	if was == nil {
		return nil
	}
	if err := how(was); err != nil {
		return fmt.Errorf("end %s: %w", p.name, err)
	}
	p.estate.options.Tell(p.name, "has ended")
	return nil
}

// again is how long to wait before a part that ended by itself is started again.
const again = time.Second

// watch starts the part again when it ends by itself, as the kubelet does with a container.
func (p *part) watch(started running) {
	<-started.Done()
	for attempt := 0; ; attempt++ {
		done, err := p.restart(started, attempt == 0)
		if done {
			return
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			p.estate.options.Tell(p.name, err.Error())
		}
		select {
		case <-p.estate.context.Done():
			return
		case <-time.After(again):
		}
	}
}

// restart starts a part again that ended by itself, and says whether there is nothing left to do.
func (p *part) restart(ended running, first bool) (done bool, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.mutex.Lock()
	asked := p.now != ended
	p.mutex.Unlock()
	if asked || p.estate.context.Err() != nil {
		return true, nil
	}
	if first {
		said := ""
		if words, ok := ended.(interface{ Words() string }); ok {
			said = ": " + words.Words()
		}
		p.estate.options.Tell(p.name, "ended by itself"+said)
		return false, nil
	}
	err = p.starts(p.estate.context)
	return err == nil, err
}

// set notes what runs.
func (p *part) set(now running) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.now = now
}

// runs says whether it does.
func (p *part) runs() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.now == nil {
		return false
	}
	select {
	case <-p.now.Done():
		return false
	default:
		return true
	}
}
